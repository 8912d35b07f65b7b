import { spawn, type ChildProcess, type ChildProcessByStdio } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";

export interface ProgramOptions {
  timeoutMs: number;
  /** Of standard output; a program that prints more is ended. */
  outputBytesMax: number;
  cwd?: string;
  /** The whole environment. This process's own by default. */
  env?: NodeJS.ProcessEnv;
  /** Whether this process waits for the program when it has nothing else to do. */
  keepsAlive: boolean;
  /** Gets the output instead, as it comes: it is neither kept nor limited then. */
  onPiece?: (piece: Buffer) => void;
}

export type Outcome =
  | { ok: true; stdout: Buffer }
  /** `cause` is one line for people, without line breaks, that follows "because" or a colon. */
  | { ok: false; why: "missing" | "late" | "large" | "failed"; cause: string };

const STDERR_BYTES_MAX = 2048;
const CAUSE_CHARACTERS_MAX = 200;

/**
 * Runs a program to its end or to its deadline, whichever comes first, and never throws. It leads its own process
 * group, so that its children end with it.
 */
export function runProgram(file: string, args: readonly string[], options: ProgramOptions): Promise<Outcome> {
  return new Promise((resolve) => {
    let child: ChildProcessByStdio<null, Readable, Readable>;
    try {
      child = spawn(file, args, {
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
        windowsHide: true,
        ...(options.cwd !== undefined && { cwd: options.cwd }),
        ...(options.env !== undefined && { env: options.env }),
      });
    } catch (thrown) {
      resolve({ ok: false, why: "failed", cause: oneLine(String(thrown)) });
      return;
    }
    const pieces: Buffer[] = [];
    let sizeBytes = 0;
    let complaint = "";
    const timer = setTimeout(() => {
      cutShort({ ok: false, why: "late", cause: `it took longer than ${options.timeoutMs} ms` });
    }, options.timeoutMs);
    const settle = (outcome: Outcome) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    const cutShort = (outcome: Outcome) => {
      endGroup(child);
      // A grandchild that left the group may hold the pipes open for ever.
      child.stdout.destroy();
      child.stderr.destroy();
      settle(outcome);
    };
    child.stdout.on("data", (piece: Buffer) => {
      if (options.onPiece !== undefined) {
        options.onPiece(piece);
        return;
      }
      sizeBytes += piece.length;
      if (sizeBytes <= options.outputBytesMax) pieces.push(piece);
      else
        cutShort({ ok: false, why: "large", cause: `it printed more than ${options.outputBytesMax} bytes` });
    });
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      complaint = (complaint + piece).slice(0, STDERR_BYTES_MAX);
    });
    for (const stream of [child.stdout, child.stderr]) stream.on("error", () => {});
    child.on("error", (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === "ENOENT" || error.code === "EACCES";
      const cause = isMissing ? `${file} is missing or may not be started` : oneLine(error.message);
      settle({ ok: false, why: isMissing ? "missing" : "failed", cause });
    });
    child.on("close", (code, signal) => {
      if (code === 0) settle({ ok: true, stdout: Buffer.concat(pieces) });
      else {
        const said = oneLine(complaint || Buffer.concat(pieces).toString());
        settle({
          ok: false,
          why: "failed",
          cause: `it ended with ${signal ?? code}${said === "" ? "" : `: ${said}`}`,
        });
      }
    });
    if (!options.keepsAlive) {
      timer.unref();
      child.unref();
      for (const stream of [child.stdout, child.stderr]) (stream as Partial<Socket>).unref?.();
    }
  });
}

function endGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, "SIGKILL");
  } catch {
    // There are no groups on Windows.
    child.kill("SIGKILL");
  }
}

function oneLine(text: string): string {
  const line = text.trim().split(/\r?\n/, 1)[0]!;
  return line.length > CAUSE_CHARACTERS_MAX ? `${line.slice(0, CAUSE_CHARACTERS_MAX)}…` : line;
}
