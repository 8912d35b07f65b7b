import { systemClock } from "#base/clock.ts";
import { LineSplitter } from "./line-splitter.ts";
import { LineRedactor } from "./secrets/secret-lines.ts";

export type OnLine = (stream: "stdout" | "stderr", line: string, timeUs: number) => void;

export interface ConsoleCapture {
  /** Hands over unfinished lines and releases the streams. Further calls do nothing. */
  stop(): void;
}

/**
 * Captures every line this process prints on standard output and standard error, through `console` or directly. The
 * output is first written unchanged to the original stream; errors here never reach the caller that prints.
 *
 * `onLine` is called at once, inside the call that prints. What it prints itself is passed on and not captured. A
 * child process with inherited streams writes past this, and so does Node when it dies of an uncaught exception. Secrets
 * are redacted in the lines, including those in `env`, and not in the output.
 */
export function captureConsole(
  onLine: OnLine,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ConsoleCapture {
  let isHandling = false;
  const handle = (work: () => void) => {
    const was = isHandling;
    isHandling = true;
    try {
      work();
    } catch {
      // The caller that prints can do nothing about it.
    } finally {
      isHandling = was;
    }
  };
  const stops = (["stdout", "stderr"] as const).map((name) => {
    const redactor = new LineRedactor(env);
    const splitter = new LineSplitter((line) =>
      handle(() => onLine(name, redactor.redact(line), systemClock.nowUs())),
    );
    const release = listen(process[name], (chunk, encoding) => {
      if (!isHandling) handle(() => splitter.write(chunkOf(chunk, encoding)));
    });
    return () => {
      if (release()) splitter.end();
    };
  });
  return {
    stop() {
      for (const stop of stops) stop();
    },
  };
}

/** Returns a function that stops it and returns whether it was still listening. */
function listen(
  stream: NodeJS.WriteStream,
  onWrite: (chunk: unknown, encoding: unknown) => void,
): () => boolean {
  const hadOwn = Object.hasOwn(stream, "write");
  const original = stream.write;
  let isActive = true;
  const wrapper = function (this: unknown, ...given: unknown[]): boolean {
    const result = Reflect.apply(original, this, given) as boolean;
    if (isActive) onWrite(given[0], given[1]);
    return result;
  } as typeof stream.write;
  stream.write = wrapper;
  return () => {
    if (!isActive) return false;
    isActive = false;
    // Other code may have wrapped it again since: then this wrapper stays in the chain and only passes on.
    if (stream.write === wrapper) {
      if (hadOwn) stream.write = original;
      else delete (stream as Partial<NodeJS.WriteStream>).write;
    }
    return true;
  };
}

/** What was written, as text or bytes of UTF-8. The stream has accepted it, so it is one of these. */
function chunkOf(chunk: unknown, encoding: unknown): string | Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const text = String(chunk);
  if (typeof encoding !== "string" || /^utf-?8$/i.test(encoding) || !Buffer.isEncoding(encoding)) return text;
  return Buffer.from(text, encoding);
}
