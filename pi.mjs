#!/usr/bin/env node
// pitap shim: runs the `pi` beside this file, for clients that run their agent as `node FILE`, such as RpcClient with its
// cliPath. Written by `pitap shim`, which replaces it when it is run again.
import { spawn } from "node:child_process";
import { accessSync, constants as files } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const windows = process.platform === "win32";
const pi = fileURLToPath(new URL(windows ? "pi.exe" : "pi", import.meta.url));
const argv = process.argv.slice(2);

function fail(error) {
	const missing = error.code === "ENOENT";
	process.stderr.write(`pitap: ${pi}: ${missing ? "not found" : error.message}; run pitap shim again\n`);
	process.exit(missing ? 127 : 126);
}

try {
	accessSync(pi, files.X_OK); // a failed execve would end this process by SIGABRT
} catch (error) {
	fail(error);
}

// This process becomes pitap where Node can do that; then nothing stands in between.
if (process.execve && !windows) process.execve(pi, [pi, ...argv], process.env);

// Else pitap is a child. It gets a session of its own, so that a signal to the group comes once, from here. At the end of
// the pipe pitap knows that this process is gone, however that came about.
const forwarded = ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM", "WINCH", "CONT", "ABRT"].map((name) => `SIG${name}`);
// Before the child is there, so that none is missed; what comes in between is handled afterwards.
if (!windows) for (const signal of forwarded) process.on(signal, () => child.kill(signal));

const child = spawn(pi, argv, {
	argv0: pi,
	detached: !windows,
	stdio: windows ? "inherit" : ["inherit", "inherit", "inherit", "pipe"],
	env: windows ? process.env : { ...process.env, PITAP_PARENT_FD: "3" },
});
child.stdio[3]?.on("error", () => {});
child.on("error", fail);
child.on("exit", (code, signal) => {
	if (signal === null) process.exit(code);
	for (const name of forwarded) process.removeAllListeners(name);
	process.kill(process.pid, signal);
	setTimeout(() => process.exit(128 + constants.signals[signal]), 100); // the signal did not end this process
});
