import type { MessageInitShape } from "@bufbuild/protobuf";
import { CairnError } from "#lang/errors.ts";
import { EVERY_LINE, LOG_ORIGINS, type LogFilter, type LogLine, type LogOrigin } from "#core/types/log.ts";
import type { ReadLines, SearchLines, TailLines } from "#core/logs/logs.ts";
import type {
  LogFilter as FilterMessage,
  LogLineSchema,
  LogOrigin as OriginMessage,
  ReadLogRequest,
  SearchLogRequest,
  TailLogRequest,
} from "#proto/cairn/v1/log_pb.ts";
import { toRunRef } from "./run.ts";
import { toInteger } from "./map.ts";

export function toReadLines({ run, filter, from, limit }: ReadLogRequest): ReadLines {
  return {
    run: toRunRef(run),
    filter: toLogFilter(filter),
    from: toInteger(from, "line number"),
    limit,
  };
}

export function toSearchLines(request: SearchLogRequest): SearchLines {
  const { run, filter, from, limit, text, regex, ignoreCase } = request;
  return {
    run: toRunRef(run),
    filter: toLogFilter(filter),
    from: toInteger(from, "line number"),
    limit,
    text,
    regex,
    ignoreCase,
  };
}

export function toTailLines({ run, filter, from, follow }: TailLogRequest): TailLines {
  return {
    run: toRunRef(run),
    filter: toLogFilter(filter),
    from: from === undefined ? undefined : toInteger(from, "line number"),
    follow,
  };
}

export function toLogFilter(filter: FilterMessage | undefined): LogFilter {
  if (filter === undefined) return EVERY_LINE;
  const { origin, stream, rank, fromUs, toUs } = filter;
  return {
    origin: toOrigin(origin),
    stream: stream === "" ? undefined : stream,
    rank,
    fromUs: fromUs === undefined ? undefined : toInteger(fromUs, "time"),
    toUs: toUs === undefined ? undefined : toInteger(toUs, "time"),
  };
}

/** 0 is unspecified and selects every origin. */
function toOrigin(origin: number): LogOrigin | undefined {
  if (origin === 0) return undefined;
  const name = LOG_ORIGINS[origin - 1];
  if (name !== undefined) return name;
  throw new CairnError(
    "invalid",
    `cannot select lines of origin ${origin}: the origins are ${LOG_ORIGINS.join(", ")}`,
  );
}

export function fromLogLine(line: LogLine): MessageInitShape<typeof LogLineSchema> {
  const { number, timeUs, origin, stream, rank, text } = line;
  return {
    number: BigInt(number),
    timeUs: BigInt(timeUs),
    origin: (LOG_ORIGINS.indexOf(origin) + 1) as OriginMessage,
    stream,
    text,
    ...(rank !== undefined && { rank }),
  };
}
