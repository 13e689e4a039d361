// A client, written right unless READER says otherwise: it splits on LF alone, decodes across reads, passes over what is no
// record, reads stderr, and has patience that ends.
import { spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
const reader = process.env.READER ?? "right";
const pi = spawn("pi", ["--mode", "rpc"]);
if (reader !== "deaf") pi.stderr.resume();
const waiting = new Set();
function receive(line) {
	let record;
	try {
		record = JSON.parse(line);
	} catch (error) {
		if (reader === "strict" || reader === "readline" || reader === "chunks") throw error;
		return;
	}
	for (const waiter of waiting) waiter(record);
}
let partial = Buffer.alloc(0);
let text = "";
const decoder = new StringDecoder();
const readers = {
	// By the rules.
	right(bytes) {
		partial = Buffer.concat([partial, bytes]);
		for (let end; (end = partial.indexOf(10)) >= 0; partial = partial.subarray(end + 1)) {
			if (reader === "limit" && end > 65536) throw new Error("token too long"); // as Go's Scanner
			receive(partial.subarray(0, end).toString());
		}
		if (reader === "limit" && partial.length > 65536) throw new Error("token too long");
	},
	// Splits as the readline of Node 24 does.
	readline(bytes) {
		text += decoder.write(bytes);
		const lines = text.split(/\r\n|[\n\r\u2028\u2029]/);
		text = lines.pop();
		for (const line of lines) receive(line);
	},
	// Decodes each read by itself.
	chunks(bytes) {
		text += bytes.toString();
		const lines = text.split("\n");
		text = lines.pop();
		for (const line of lines) if (line) receive(line);
	},
	// Takes each read for whole records.
	reads(bytes) {
		for (const line of bytes.toString().split("\n")) if (line) receive(line);
	},
};
pi.stdout.on("data", readers[reader] ?? readers.right);
const ended = new Promise((resolve, reject) => pi.on("exit", () => reject(new Error("pi has gone"))));
ended.catch(() => {});
const next = (match, patience = 5000) =>
	Promise.race([
		ended,
		new Promise((resolve, reject) => {
			const timer = setTimeout(() => reject(new Error("nothing came")), patience);
			const waiter = (record) => {
				if (!match(record)) return;
				clearTimeout(timer);
				waiting.delete(waiter);
				resolve(record);
			};
			waiting.add(waiter);
		}),
	]);
let last = 0;
async function ask(fields, tries = 2) {
	const id = `c${++last}`;
	const answer = next((r) => r.type === "response" && r.id === id, 3000);
	answer.catch(() => {});
	pi.stdin.write(JSON.stringify({ id, ...fields }) + "\n");
	try {
		return await answer;
	} catch (error) {
		if (tries > 1 && fields.type.startsWith("get_") && error.message === "nothing came") return ask(fields, tries - 1);
		throw error;
	}
}
try {
	const models = await ask({ type: "get_available_models" });
	const settled = next((r) => r.type === "agent_settled");
	settled.catch(() => {});
	const answer = await ask({ type: "prompt", message: "hi" });
	await settled;
	if (!answer.success || models.data.models[0].name !== "Größe 名前") throw new Error("wrong: " + JSON.stringify(models));
	pi.removeAllListeners("exit");
	pi.kill("SIGTERM");
	setTimeout(() => pi.kill("SIGKILL"), 1000).unref();
	await new Promise((resolve) => pi.once("exit", resolve));
	process.exit(0);
} catch (error) {
	console.error(error.message);
	pi.kill("SIGKILL");
	process.exit(1);
}
