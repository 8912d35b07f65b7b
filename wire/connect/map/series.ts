import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { CairnError } from "#lang/errors.ts";
import { requireLabels } from "#core/types/check.ts";
import type { Labels, Sample, SeriesKind, Summary } from "#core/types/series.ts";
import type {
  BandData,
  ExactData,
  OwnedSeries,
  ReadSeriesResult,
  SeriesData,
  SeriesOwner,
} from "#core/ports/point-store.ts";
import type { Matcher, MatchOp } from "#core/types/matchers.ts";
import type { DeleteRequest, ReadRequest, Selecting, SelectSeries } from "#core/series/metrics.ts";
import type { Among } from "#core/series/scope.ts";
import type { AnswerForm } from "#core/series/read-budget.ts";
import {
  Axis,
  Encoding,
  Form,
  ReadSeriesResponseSchema,
  SeriesDataSchema,
  SeriesInfoSchema,
  SeriesKind as KindMessage,
  type ColumnSchema,
  type ListSeriesRequest,
  type ReadSeriesRequest,
  type ReadSeriesResponse,
  type SeriesInfo as SeriesInfoMessage,
  type SeriesSelector,
} from "#proto/cairn/v1/metric_pb.ts";
import { SampleSchema, SeriesSummarySchema } from "#proto/cairn/v1/series_pb.ts";
import {
  MatchOp as MatchOpMessage,
  type DeleteSeriesRequest,
  type Matcher as MatcherMessage,
} from "#proto/cairn/v1/series_pb.ts";
import { toHost, toOwnerRef } from "./host.ts";
import { fromMap, toInteger } from "./map.ts";
import { toRunRef } from "./run.ts";

export const KINDS: Readonly<Record<SeriesKind, KindMessage>> = {
  number: KindMessage.NUMBER,
  integer: KindMessage.INTEGER,
  bool: KindMessage.BOOL,
  text: KindMessage.TEXT,
};

export function toReadRequest(request: ReadSeriesRequest, form: AnswerForm): ReadRequest {
  return {
    series: request.series.map(toSelector),
    axis: request.axis === Axis.TIME ? "time" : "step",
    from: request.from === undefined ? undefined : toInteger(request.from, "from"),
    to: request.to === undefined ? undefined : toInteger(request.to, "to"),
    buckets: request.buckets,
    includeReplaced: request.includeReplaced,
    onlyReplaced: request.onlyReplaced,
    form,
  };
}

function toSelector({ run, host, key, labels, allLabels, matchers }: SeriesSelector): SelectSeries {
  const owner = toOwnerRef({ run, host });
  if (matchers.length > 0) {
    return {
      ...owner,
      key: key === "" ? undefined : key,
      labels: undefined,
      matchers: matchers.map(toMatcher),
    };
  }
  return {
    ...owner,
    key,
    labels: allLabels ? undefined : requireLabels(Object.entries(labels), key),
  };
}

const OPS: Readonly<Record<MatchOpMessage, MatchOp>> = {
  [MatchOpMessage.UNSPECIFIED]: "=",
  [MatchOpMessage.EQUAL]: "=",
  [MatchOpMessage.NOT_EQUAL]: "!=",
  [MatchOpMessage.REGEX]: "=~",
  [MatchOpMessage.NOT_REGEX]: "!~",
};

function toMatcher({ label, op, value }: MatcherMessage): Matcher {
  const known = OPS[op];
  if (known === undefined) throw new CairnError("invalid", `cannot match by operator ${op}`);
  return { label, op: known, value };
}

export function toSelecting(message: SelectingMessage): Selecting {
  const { run, runs, hosts, under, withHosts, matchers } = message;
  const among: Among[] = [];
  if (run !== undefined) among.push({ runs: [toRunRef(run)] });
  if (runs.length > 0) among.push({ runs: runs.map(toRunRef) });
  if (hosts.length > 0) among.push({ hosts: hosts.map(toHost) });
  if (under !== undefined) among.push({ under, withHosts });
  if (among.length !== 1) {
    throw new CairnError("invalid", `cannot select series in ${among.length} places`, {
      hint: 'give exactly one of run, runs, hosts and under, for example {"run": {"id": "…"}}',
    });
  }
  if (withHosts && under === undefined) {
    throw new CairnError("invalid", "cannot select series of hosts, too: without a namespace", {
      hint: 'with_hosts goes with under; name hosts in "hosts"',
    });
  }
  return { among: among[0]!, matchers: matchers.map(toMatcher) };
}

export function toDeleteRequest(request: DeleteSeriesRequest): DeleteRequest {
  return {
    ...toOwnerRef(request),
    matchers: request.matchers.map(toMatcher),
    axis: request.byTime ? "time" : "step",
    from: request.from === undefined ? undefined : toInteger(request.from, "from"),
    to: request.to === undefined ? undefined : toInteger(request.to, "to"),
  };
}

type SelectingMessage = Pick<
  ListSeriesRequest,
  "run" | "runs" | "hosts" | "under" | "withHosts" | "matchers"
>;

function fromOwner({ runId, host }: SeriesOwner) {
  return host === undefined ? { runId } : { host };
}

export function fromSeriesInfo(info: OwnedSeries): SeriesInfoMessage {
  return create(SeriesInfoSchema, {
    ...fromOwner(info),
    key: info.key,
    labels: fromLabels(info.labels),
    kind: KINDS[info.kind],
    summary: fromSummary(info.summary),
  });
}

export function fromReadResult(result: ReadSeriesResult, encoding: Encoding): ReadSeriesResponse {
  const column = columnsAs(encoding);
  return create(ReadSeriesResponseSchema, {
    series: result.series.map((series) => fromSeriesData(series, column)),
    gridStart: result.grid?.start ?? 0,
    gridWidth: result.grid?.width ?? 0,
  });
}

type Column = MessageInitShape<typeof ColumnSchema>;
type TypedColumn = Float64Array | BigInt64Array | Uint16Array | Uint8Array;
type ToColumn = (column: TypedColumn) => Column;

/** How columns are written in one answer. */
export function columnsAs(encoding: Encoding): ToColumn {
  return encoding === Encoding.NUMBERS ? asNumbers : asBytes;
}

function fromSeriesData(series: SeriesData, column: ToColumn) {
  const { data } = series;
  return create(SeriesDataSchema, {
    ...fromOwner(series),
    key: series.key,
    labels: fromLabels(series.labels),
    kind: KINDS[series.kind],
    form: data.form === "exact" ? Form.EXACT : Form.BAND,
    pointCount: BigInt(series.pointCount),
    ...(data.form === "exact" ? fromExact(data, column) : fromBand(data, column)),
  });
}

function fromExact({ points, replaced }: ExactData, column: ToColumn) {
  const { steps, times, nanos, values } = points;
  return {
    ...(steps !== undefined && { steps: column(steps) }),
    ...(times !== undefined && { timesUs: column(times) }),
    ...(nanos !== undefined && { nanos: column(Float64Array.from(nanos)) }),
    ...(values.kind === "text" ? { texts: [...values.data] } : { values: column(values.data) }),
    ...(replaced !== undefined && { replaced: column(replaced) }),
  };
}

function fromBand(data: BandData, column: ToColumn) {
  return {
    bucket: column(data.bucket),
    count: column(data.count),
    min: column(data.min),
    max: column(data.max),
    first: column(data.first),
    last: column(data.last),
    mean: column(data.mean),
    nanCount: column(data.nanCount),
  };
}

/** Memory is little-endian on every machine Cairn runs on, as the wire is. */
function asBytes(column: TypedColumn): Column {
  return { bytes: new Uint8Array(column.buffer as ArrayBuffer, column.byteOffset, column.byteLength) };
}

function asNumbers(column: TypedColumn): Column {
  return column instanceof BigInt64Array ? { integers: [...column] } : { numbers: [...column] };
}

function fromSummary(summary: Summary) {
  const { count, nanCount, replacedCount, first, last, min, max, sum, sumSquares } = summary;
  const numbers = count - nanCount;
  return create(SeriesSummarySchema, {
    count: BigInt(count),
    nanCount: BigInt(nanCount),
    replacedCount: BigInt(replacedCount),
    sum,
    sumSquares,
    ...(first !== undefined && { first: fromSample(first) }),
    ...(last !== undefined && { last: fromSample(last) }),
    ...(min !== undefined && { min: fromSample(min) }),
    ...(max !== undefined && { max: fromSample(max) }),
    ...(min !== undefined && numbers > 0 && { mean: sum / numbers }),
  });
}

function fromSample(sample: Sample) {
  return create(SampleSchema, {
    ...(sample.step !== undefined && { step: BigInt(sample.step) }),
    ...(sample.timeUs !== undefined && { timeUs: BigInt(sample.timeUs) }),
    value: sample.value,
    ...(sample.text !== undefined && { text: sample.text }),
    ...(sample.integer !== undefined && { integer: sample.integer }),
  });
}

function fromLabels(labels: Labels): Record<string, string> {
  return fromMap(new Map(labels));
}
