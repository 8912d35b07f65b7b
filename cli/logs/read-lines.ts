import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LogFilterSchema, LogLine } from "#proto/cairn/v1/log_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { printable } from "../output/text.ts";

/** Which lines of one run; everything that is absent selects all. */
export interface LineSelection {
  runId: string;
  filter: MessageInitShape<typeof LogFilterSchema>;
  /** At most one of the two. */
  text?: string | undefined;
  regex?: string | undefined;
  ignoreCase: boolean;
  /** Reports damaged lines on standard error. */
  note(text: string): void;
}

const PAGE = 10_000;
/** How many lines are searched for the last ones at first. */
const WINDOW = 2_000;

/** Lines from number `from` to the last one, page by page; returns where to continue. */
export async function* readLines(
  server: Cairn,
  { runId, filter, text = "", regex = "", ignoreCase, note }: LineSelection,
  from: bigint,
): AsyncGenerator<LogLine[], bigint> {
  const run = { id: runId };
  const isSearch = text !== "" || regex !== "";
  for (let at = from; ;) {
    const page = await (
      isSearch
        ? server.logs.searchLog({ run, filter, text, regex, ignoreCase, from: at, limit: PAGE })
        : server.logs.readLog({ run, filter, from: at, limit: PAGE })
    ).catch((thrown: unknown) => {
      const next = afterDamage(thrown, at, note);
      return { lines: [], next, more: true };
    });
    if (page.lines.length > 0) yield page.lines;
    at = page.next;
    if (!page.more) return at;
  }
}

/** Where to continue after damaged lines, which are reported once on standard error. Throws all other failures. */
export function afterDamage(thrown: unknown, at: bigint, note: LineSelection["note"]): bigint {
  const { reason, facts, message } = Failure.from(thrown);
  const next = /^\d{1,15}$/.test(facts["next"] ?? "") ? BigInt(facts["next"]!) : -1n;
  if (reason !== "LINES_DAMAGED" || next <= at) throw thrown;
  note(`cairn: ${printable(message)}`);
  return next;
}

export interface LastLines {
  lines: LogLine[];
  /** The number after the last that was looked at. */
  next: bigint;
}

/** The last `count` lines of the selection. */
export async function readLastLines(
  server: Cairn,
  selection: LineSelection,
  count: number,
): Promise<LastLines> {
  const isPlain = selection.text === undefined && selection.regex === undefined;
  // A search has no end parameter, so it runs once, over everything.
  if (!isPlain) return collect(server, selection, 0n, count);
  const { total } = await server.logs.readLog({ run: { id: selection.runId }, from: -1n, limit: 1 });
  for (let window = BigInt(Math.max(count, WINDOW)); ; window *= 8n) {
    const from = total > window ? total - window : 0n;
    const found = await collect(server, selection, from, count);
    if (found.lines.length >= count || from === 0n) return found;
  }
}

async function collect(
  server: Cairn,
  selection: LineSelection,
  from: bigint,
  count: number,
): Promise<LastLines> {
  const pages = readLines(server, selection, from);
  let lines: LogLine[] = [];
  for (;;) {
    const page = await pages.next();
    if (page.done === true) return { lines, next: page.value };
    lines = count === 0 ? [] : [...lines, ...page.value].slice(-count);
  }
}
