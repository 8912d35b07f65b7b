/** A log as a list, to compare a store's answers with, and helpers to fill one. */
import { EVERY_LINE, type LogFilter, type LogLine, type LogLines } from "#core/types/log.ts";
import type { FoundLines, LogPage, LogStore, ReadLog, SearchLog } from "#core/ports/log-store.ts";

/** Lines of one source; of rank none on stdout of the process unless said otherwise. */
export function logLines(texts: readonly string[], parts: Partial<LogLines> = {}): LogLines {
  const bytes = texts.map((text) => Buffer.from(text));
  return {
    origin: "process",
    stream: "stdout",
    rank: undefined,
    times: undefined,
    lengths: Uint32Array.from(bytes, ({ length }) => length),
    text: new Uint8Array(Buffer.concat(bytes)),
    ...parts,
  };
}

export class NaiveLog {
  readonly lines: LogLine[] = [];

  append(log: readonly LogLines[], nowUs: number): void {
    for (const { origin, stream, rank, times, lengths, text } of log) {
      let at = 0;
      for (const [i, length] of lengths.entries()) {
        const own = Buffer.from(text.subarray(at, at + length)).toString();
        at += length;
        const timeUs = times?.[i] ?? nowUs;
        this.lines.push({ number: this.lines.length, timeUs, origin, stream, rank, text: own });
      }
    }
  }

  read({ filter, from, limit }: Omit<ReadLog, "runId">): LogPage {
    const { lines, next } = this.#find(filter, from, limit, () => true);
    const total = this.lines.length;
    return { lines, next, total, more: next < total };
  }

  search(request: Omit<SearchLog, "runId">): FoundLines {
    const { filter, from, limit, pattern } = request;
    const matches = ({ text }: LogLine) => {
      if (pattern.kind === "text") return text.includes(pattern.text);
      const caseless = pattern.kind === "caseless";
      return new RegExp(caseless ? RegExp.escape(pattern.text) : pattern.regex, caseless ? "iu" : "su").test(
        text,
      );
    };
    const { lines, next, start } = this.#find(filter, from, limit, matches);
    return { lines, next, more: next < this.lines.length, searched: next - start };
  }

  #find(filter: LogFilter, from: number, limit: number, matches: (line: LogLine) => boolean) {
    const total = this.lines.length;
    const start = from < 0 ? Math.max(0, total + from) : from;
    const wanted = this.lines.slice(start).filter((line) => selects(filter, line) && matches(line));
    const lines = wanted.slice(0, limit);
    const next = wanted.length >= limit ? lines.at(-1)!.number + 1 : Math.max(start, total);
    return { start, lines, next };
  }
}

function selects(filter: LogFilter, line: LogLine): boolean {
  const { origin, stream, rank, fromUs, toUs } = filter;
  if (origin !== undefined && line.origin !== origin) return false;
  if (stream !== undefined && line.stream !== stream) return false;
  if (rank !== undefined && line.rank !== rank) return false;
  return line.timeUs >= (fromUs ?? -Infinity) && line.timeUs <= (toUs ?? Infinity);
}

/** All lines, page by page. */
export async function readAll(
  store: LogStore,
  runId: string,
  filter: Partial<LogFilter> = {},
  limit = 10_000,
): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for (let from = 0; ;) {
    const page = await store.readLog({ runId, filter: { ...EVERY_LINE, ...filter }, from, limit });
    if (page.more && page.next <= from) throw new Error(`reading makes no progress at line ${from}`);
    lines.push(...page.lines);
    if (!page.more) return lines;
    from = page.next;
  }
}

/** All matches, call by call. */
export async function searchAll(
  store: LogStore,
  runId: string,
  pattern: SearchLog["pattern"],
  filter: Partial<LogFilter> = {},
): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for (let from = 0; ;) {
    const request = { runId, pattern, filter: { ...EVERY_LINE, ...filter }, from, limit: 10_000 };
    const found = await store.searchLog(request);
    if (found.more && found.next <= from) throw new Error(`the search makes no progress at line ${from}`);
    lines.push(...found.lines);
    if (!found.more) return lines;
    from = found.next;
  }
}
