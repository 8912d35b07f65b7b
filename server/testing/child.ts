import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Output of servers about uncaught errors; tools/no-uncaught.ts fails the test file for it. */
export const uncaughtLines: string[] = [];

/** From our handler of uncaught errors, from Node when it ends a process or a thread, and from V8 without memory. */
const UNCAUGHT =
  /"msg":"uncaught error"|^Node\.js v\d|Unhandled 'error' event|UnhandledPromiseRejection|FATAL ERROR:|heap out of memory/;
/** Signals of a process that crashed. */
const CRASHES: ReadonlySet<string> = new Set(["SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGTRAP"]);

/** Finds them in standard error of a server. */
export function noteUncaught(line: string): void {
  if (UNCAUGHT.test(line)) uncaughtLines.push(line);
}

/** Of a server that has ended: a signal that no test has sent is a crash, or that the system had no memory. */
export function noteExit({ killed, pid }: ChildProcess, signal: NodeJS.Signals | null): void {
  if (signal !== null && (!killed || CRASHES.has(signal)))
    uncaughtLines.push(`process ${pid} ended with ${signal}`);
}

/** Variables with which a server runs this module in each of its threads before anything else. */
export function preloading(code: string): NodeJS.ProcessEnv {
  return { ...process.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

const START = fileURLToPath(new URL("../start.js", import.meta.url));

export interface ChildServer {
  url: string;
  child: ChildProcess;
  /** Its standard output until it was ready. */
  greeting: string[];
  /** Its standard error. */
  log: string[];
  /** From the start of the process until it listened. */
  readyMs: number;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface ChildOptions {
  nodeFlags?: readonly string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** A command that runs the server, with its arguments: strace, or a shell that sets limits. */
  through?: readonly string[];
  /** The test expects uncaught errors; else they fail the test file. */
  mayFail?: boolean;
  /** Gets the process at once, also one that never gets ready. */
  onSpawn?: (child: ChildProcess) => void;
}

/** A server in its own process, as `npm start` runs it but for the flags of Node. Resolves once it listens. */
export async function startChild(argv: readonly string[], options: ChildOptions = {}): Promise<ChildServer> {
  const started = performance.now();
  const node = [
    process.execPath,
    ...(options.nodeFlags ?? []),
    START,
    "--port",
    "0",
    "--log-level",
    "warn",
    ...argv,
  ];
  const [command, ...rest] = [...(options.through ?? []), ...node];
  const child = spawn(command!, rest, {
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.env !== undefined && { env: options.env }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  options.onSpawn?.(child);
  const exited = once(child, "exit").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  const complaints: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    complaints.push(line);
    if (options.mayFail !== true) noteUncaught(line);
  });
  const greeting: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    greeting.push(line);
    const url = /^Cairn is listening on (\S+)/.exec(line)?.[1];
    if (url !== undefined) resolve(url);
  });
  void exited.then(({ code, signal }) => {
    if (options.mayFail !== true) noteExit(child, signal);
    reject(new Error(`the server ended with ${signal ?? code}: ${complaints.join("\n")}`));
  });
  const url = await promise;
  return { url, child, greeting, log: complaints, exited, readyMs: performance.now() - started };
}
