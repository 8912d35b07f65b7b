import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { requireLabels } from "#core/types/check.ts";
import type { Labels, Sample, SeriesInfo, SeriesKind, Summary } from "#core/types/series.ts";
import type { BandData, ExactData, ReadSeriesResult, SeriesData } from "#core/ports/point-store.ts";
import type { ReadRequest } from "#core/series/metrics.ts";
import type { AnswerForm } from "#core/series/read-budget.ts";
import {
  Axis,
  Encoding,
  Form,
  ReadSeriesResponseSchema,
  SampleSchema,
  SeriesDataSchema,
  SeriesInfoSchema,
  SeriesKind as KindMessage,
  SeriesSummarySchema,
  type ColumnSchema,
  type ReadSeriesRequest,
  type ReadSeriesResponse,
  type SeriesInfo as SeriesInfoMessage,
} from "#proto/cairn/v1/metric_pb.ts";
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
    series: request.series.map((selector) => ({
      run: toRunRef(selector.run),
      key: selector.key,
      labels: selector.allLabels ? undefined : requireLabels(Object.entries(selector.labels), selector.key),
    })),
    axis: request.axis === Axis.TIME ? "time" : "step",
    from: request.from === undefined ? undefined : toInteger(request.from, "from"),
    to: request.to === undefined ? undefined : toInteger(request.to, "to"),
    buckets: request.buckets,
    includeReplaced: request.includeReplaced,
    onlyReplaced: request.onlyReplaced,
    form,
  };
}

export function fromSeriesInfo(info: SeriesInfo): SeriesInfoMessage {
  return create(SeriesInfoSchema, {
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
    runId: series.runId,
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
