import { systemClock } from "#base/clock.ts";
import { LineSplitter } from "./line-splitter.ts";
import { LineRedactor } from "./secrets/secret-lines.ts";

export type OnLine = (stream: "stdout" | "stderr", line: string, timeUs: number) => void;

export interface ConsoleCapture {
  /** Hands over unfinished lines and lets go of the streams. Once is enough. */
  stop(): void;
}

/**
 * Sees every line this process prints on standard output and standard error, through `console` or directly. What is
 * printed goes on to where it always went, first and untouched; nothing that happens here reaches the one who prints.
 *
 * `onLine` is called at once, inside the call that prints. What it prints itself is passed on and not captured. A
 * child process with inherited streams writes past this, and so does Node when it dies of an uncaught exception. Secrets
 * are struck out of the lines, with those that `env` holds, and not of what is printed.
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
      // The one who prints can do nothing about it.
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

/** Returns how to stop, which says whether it was still listening. */
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
    // Somebody may have wrapped it again since: then this one stays in their chain and does nothing.
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
