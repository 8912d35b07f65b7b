import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LogFilterSchema, LogLine } from "#proto/cairn/v1/log_pb.ts";
import { cairn } from "../../../data/server.ts";
import type { RunSearch } from "../search.ts";

/** Typical texts of errors. RE2. */
const TROUBLE =
  "\\b[A-Z]\\w*(?:Error|Exception)\\b|\\b(?:ERROR|FATAL|CRITICAL|PANIC)\\b|^Traceback |[Oo]ut of memory|Segmentation fault|\\bpanic:|Killed$|SIGKILL|SIGTERM";

/** The search pauses after so many matches, until the user requests more. */
export const MATCHES_MAX = 5_000;
const CALL_MATCHES = 1_000;

export type LogView = Pick<RunSearch, "find" | "re" | "rank" | "stream">;
export type Filter = MessageInitShape<typeof LogFilterSchema>;

export function isFiltered({ find, rank, stream }: LogView): boolean {
  return find !== undefined || rank !== undefined || stream !== undefined;
}

export function filterOf({ rank, stream }: LogView): Filter {
  return { ...(rank !== undefined && { rank }), ...(stream !== undefined && { stream }) };
}

export interface Matches {
  lines: LogLine[];
  next: bigint;
  more: boolean;
}

/** One page of lines that the view selects, from a number on. */
export async function readMatches(
  runId: string,
  view: LogView,
  from: bigint,
  signal: AbortSignal,
): Promise<Matches> {
  const request = { run: { id: runId }, filter: filterOf(view), from, limit: CALL_MATCHES };
  const { find, re } = view;
  if (find === undefined) return await cairn.logs.readLog(request, { signal });
  return await cairn.logs.searchLog(
    re === true ? { ...request, regex: find } : { ...request, text: find, ignoreCase: true },
    { signal },
  );
}

/** The first line with an error from a number on; undefined when there is none. */
export async function findTrouble(runId: string, view: LogView, from: number): Promise<number | undefined> {
  let at = BigInt(from);
  for (;;) {
    const request = { run: { id: runId }, filter: filterOf(view), regex: TROUBLE, from: at, limit: 1 };
    const { lines, next, more } = await cairn.logs.searchLog(request);
    if (lines[0] !== undefined) return Number(lines[0].number);
    if (!more || next <= at) return undefined;
    at = next;
  }
}
