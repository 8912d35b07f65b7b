import type { Points, Values } from "#core/types/series.ts";

/** Neighbours that have the same columns, joined; so a run of equal pieces becomes one. */
export function concatPoints(pieces: readonly Points[]): Points[] {
  const joined: Points[] = [];
  for (let from = 0; from < pieces.length;) {
    let to = from + 1;
    while (to < pieces.length && sameColumns(pieces[from]!, pieces[to]!)) to++;
    joined.push(to === from + 1 ? pieces[from]! : join(pieces.slice(from, to)));
    from = to;
  }
  return joined.filter((points) => points.count > 0);
}

export function slicePoints(points: Points, from: number, to: number): Points {
  if (from === 0 && to === points.count) return points;
  return {
    count: to - from,
    steps: points.steps?.subarray(from, to),
    times: points.times?.subarray(from, to),
    nanos: points.nanos?.subarray(from, to),
    values: sliceValues(points.values, from, to),
  };
}

/** The points at the given places, in that order. */
export function pickPoints(points: Points, places: Uint32Array): Points {
  const pick = <A extends Float64Array | Uint16Array | Uint8Array | BigInt64Array>(column: A): A => {
    const picked = new (column.constructor as new (length: number) => A)(places.length);
    for (let i = 0; i < places.length; i++) picked[i] = column[places[i]!]!;
    return picked;
  };
  const { values } = points;
  return {
    count: places.length,
    steps: points.steps && pick(points.steps),
    times: points.times && pick(points.times),
    nanos: points.nanos && pick(points.nanos),
    values:
      values.kind === "text"
        ? { kind: "text", data: Array.from(places, (place) => values.data[place]!) }
        : ({ kind: values.kind, data: pick(values.data) } as Values),
  };
}

/**
 * Joins pieces whatever columns they have; a step or time that is missing becomes NaN. The columns
 * have buffers of their own, so that they can be handed to another thread.
 */
export function joinPoints(pieces: readonly Points[], kind: Values["kind"]): Points {
  if (pieces.length === 0) return { ...NONE, values: emptyValues(kind) };
  const [only] = pieces;
  return pieces.length === 1 && ownsBuffers(only!) ? only! : join(pieces);
}

function ownsBuffers({ steps, times, values }: Points): boolean {
  return [steps, times, values.data].every(
    (column) => !ArrayBuffer.isView(column) || column.byteLength === column.buffer.byteLength,
  );
}

const NONE = { count: 0, steps: undefined, times: undefined, nanos: undefined };

function join(pieces: readonly Points[]): Points {
  let count = 0;
  for (const piece of pieces) count += piece.count;
  return {
    count,
    steps: joinColumn(pieces, count, (piece) => piece.steps),
    times: joinColumn(pieces, count, (piece) => piece.times),
    nanos: joinNanos(pieces, count),
    values: joinValues(pieces, count),
  };
}

function joinColumn(
  pieces: readonly Points[],
  count: number,
  of: (points: Points) => Float64Array | undefined,
): Float64Array | undefined {
  if (pieces.every((piece) => of(piece) === undefined)) return undefined;
  const column = new Float64Array(count);
  let at = 0;
  for (const piece of pieces) {
    const part = of(piece);
    if (part === undefined) column.fill(NaN, at, at + piece.count);
    else column.set(part, at);
    at += piece.count;
  }
  return column;
}

function joinNanos(pieces: readonly Points[], count: number): Uint16Array | undefined {
  if (pieces.every((piece) => piece.nanos === undefined)) return undefined;
  const column = new Uint16Array(count);
  let at = 0;
  for (const piece of pieces) {
    if (piece.nanos !== undefined) column.set(piece.nanos, at);
    at += piece.count;
  }
  return column;
}

function joinValues(pieces: readonly Points[], count: number): Values {
  const kind = pieces[0]!.values.kind;
  if (kind === "text") {
    return { kind, data: pieces.flatMap((piece) => piece.values.data as readonly string[]) };
  }
  const data =
    kind === "number" ? new Float64Array(count) : kind === "bool" ? new Uint8Array(count) : undefined;
  const all = data ?? new BigInt64Array(count);
  let at = 0;
  for (const piece of pieces) {
    (all as Float64Array).set(piece.values.data as Float64Array, at);
    at += piece.count;
  }
  return { kind, data: all } as Values;
}

function sliceValues(values: Values, from: number, to: number): Values {
  if (values.kind === "text") return { kind: "text", data: values.data.slice(from, to) };
  return { kind: values.kind, data: values.data.subarray(from, to) } as Values;
}

function emptyValues(kind: Values["kind"]): Values {
  switch (kind) {
    case "number":
      return { kind, data: new Float64Array() };
    case "integer":
      return { kind, data: new BigInt64Array() };
    case "bool":
      return { kind, data: new Uint8Array() };
    case "text":
      return { kind, data: [] };
  }
}

function sameColumns(a: Points, b: Points): boolean {
  return (
    (a.steps === undefined) === (b.steps === undefined) && (a.times === undefined) === (b.times === undefined)
  );
}
