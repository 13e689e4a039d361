// A client written right: it splits on LF alone, decodes across reads, and has patience that ends.
import { spawn } from "node:child_process";
const pi = spawn("pi", ["--mode", "rpc"]);
pi.stderr.resume();
const waiting = new Set();
let partial = Buffer.alloc(0);
pi.stdout.on("data", (bytes) => {
	partial = Buffer.concat([partial, bytes]);
	for (let end; (end = partial.indexOf(10)) >= 0; partial = partial.subarray(end + 1)) {
		let record;
		try {
			record = JSON.parse(partial.subarray(0, end).toString());
		} catch {
			continue;
		}
		for (const waiter of waiting) waiter(record);
	}
});
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
