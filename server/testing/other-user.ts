import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { findPeer } from "#server/auth/peer-uid.ts";
import { preloading } from "./child.ts";

/** Neither the user of the tests nor one of this machine. */
export const OTHER_UID = 54_321;

const PROBE = fileURLToPath(new URL("user-probe.js", import.meta.url));

export interface UserCall {
  url: string;
  http2?: boolean;
  /** POST by default. */
  method?: string;
  headers?: Record<string, string>;
  /** Each character is a byte. */
  body?: string;
}

export interface UserAnswer {
  status: number;
  /** The status of gRPC. */
  grpc?: string;
  body: string;
}

/** Makes calls as a process of another user; only root may become one. */
export async function callAs(uid: number, calls: readonly UserCall[]): Promise<UserAnswer[]> {
  return JSON.parse(await probe({ uid, calls })) as UserAnswer[];
}

/** Variables with which a server becomes another user at its first line. */
export function becoming(uid: number): NodeJS.ProcessEnv {
  return preloading(`import { isMainThread } from "node:worker_threads";
    if (isMainThread) { process.setgroups([]); process.setgid(${uid}); process.setuid(${uid}); }`);
}

/** Sends the text many times as another user who disconnects at once. */
export async function strikeAs(
  uid: number,
  strikes: { port: number; text: string; times: number },
): Promise<void> {
  await probe({ uid, strikes });
}

/** A TCP proxy that another user runs until the test is over; returns its port. */
export async function proxyAs(uid: number, proxyTo: number): Promise<number> {
  const child = spawn(process.execPath, [PROBE, JSON.stringify({ uid, proxyTo })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  return Number(port.toString());
}

/**
 * Another user's connection, over TLS where a protocol is to be agreed on, that has sent `first`. `reset` sends the
 * rest and resets it, without a turn of the event loop of this process, which therefore checks it only afterwards.
 */
export async function abandonAs(
  uid: number,
  abandons: { port: number; alpn?: string | undefined; first: string; rest: string },
): Promise<{ localPort: number; reset: () => void }> {
  const child = spawn(process.execPath, [PROBE, JSON.stringify({ uid, abandons })], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  const localPort = Number(text.toString());
  const reset = () => {
    child.stdin.write("\n");
    const ends = [localPort, abandons.port].map((port) => `0100007F:${hexOf(port)}`).join(" ");
    while (findPeer("/proc/net/tcp", ends) !== undefined) Atomics.wait(NEVER, 0, 0, 1);
  };
  return { localPort, reset };
}

const NEVER = new Int32Array(new SharedArrayBuffer(4));

function hexOf(port: number): string {
  return port.toString(16).padStart(4, "0").toUpperCase();
}

function probe(task: object): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [PROBE, JSON.stringify(task)],
      { timeout: 60_000 },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`the other user failed: ${stderr}`, { cause: error }));
      },
    );
  });
}
