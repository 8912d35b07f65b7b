import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8")) as { scripts: { start: string } };
/** The command of `npm start` after the build, without the shell's `exec node`. */
const START = manifest.scripts.start.split("exec node ")[1]!.split(" ");
const TICKS_PER_SECOND = 100;

/** A real server in its own process, so that its CPU time and memory are separate from the bench's. */
export interface BenchServer {
  port: number;
  url: string;
  /** From spawn to the line with its address. */
  startMs: number;
  /** User and system time of all its threads. */
  cpuSeconds(): number;
  rssBytes(): number;
  stop(): Promise<void>;
}

export async function startServer(data: string): Promise<BenchServer> {
  const began = performance.now();
  const child = spawn(process.execPath, [...START, "--port", "0", "--data", data, "--log-level", "warn"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const end = () => child.kill("SIGKILL");
  // An interrupted bench stops its server.
  process.once("exit", end);
  const url = await greetingUrl(child);
  const pid = child.pid!;
  return {
    url,
    port: Number(new URL(url).port),
    startMs: performance.now() - began,
    cpuSeconds: () => cpuSeconds(pid),
    rssBytes: () => rssBytes(pid),
    stop: async () => {
      process.off("exit", end);
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

async function greetingUrl(child: ChildProcess): Promise<string> {
  let output = "";
  for await (const chunk of child.stdout!) {
    output += String(chunk);
    const url = /listening on (\S+)/.exec(output)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`cannot start the server: ${output}`);
}

export function cpuSeconds(pid: number | "self"): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function rssBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024;
}
