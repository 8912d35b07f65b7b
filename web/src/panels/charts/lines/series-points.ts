import { Axis, Form, SeriesKind, type SeriesData } from "#proto/cairn/v1/metric_pb.ts";
import type { Points } from "../../../charts/lines/line.ts";
import { doublesOf, valuesOf } from "./column.ts";

export interface Grid {
  gridStart: number;
  gridWidth: number;
}

/** The x of a bucket: the middle of its steps. */
export function bucketPlaces(bucket: Float64Array, { gridStart, gridWidth }: Grid): Float64Array {
  const middle = Math.max(0, (gridWidth - 1) / 2);
  return bucket.map((b) => gridStart + b * gridWidth + middle);
}

/**
 * One series of an answer as points of a chart. `originUs` is subtracted from times, so that a run begins at 0. Points
 * that the axis cannot show come last and are only counted.
 */
export function seriesPoints(data: SeriesData, axis: Axis, grid: Grid, originUs = 0): Points {
  const pointCount = Number(data.pointCount);
  if (data.form === Form.BAND) {
    const count = doublesOf(data.count);
    const x = moved(bucketPlaces(doublesOf(data.bucket), grid), originUs);
    const placed = count.reduce((sum, each) => sum + each, 0);
    return {
      x,
      y: doublesOf(data.mean),
      low: doublesOf(data.min),
      high: doublesOf(data.max),
      nan: Uint8Array.from(doublesOf(data.nanCount), (each) => Number(each > 0)),
      exact: false,
      pointCount,
      unplacedCount: Math.max(0, pointCount - placed),
    };
  }
  const all = doublesOf(axis === Axis.TIME ? data.timesUs : data.steps);
  let size = all.length;
  while (size > 0 && Number.isNaN(all[size - 1]!)) size--;
  const x = moved(all.subarray(0, size), originUs);
  const unplacedCount = Math.max(0, pointCount - size);
  if (data.kind === SeriesKind.TEXT) {
    const { places, words } = placesOfWords(data.texts.slice(0, size));
    return { x, y: places, words, exact: true, pointCount, unplacedCount };
  }
  const y = valuesOf(data.values, data.kind).subarray(0, size);
  return { x, y, exact: true, pointCount, unplacedCount };
}

function moved(x: Float64Array, origin: number): Float64Array {
  return origin === 0 ? x : x.map((at) => at - origin);
}

/** Texts get heights by order of appearance. Above this number the rest share the last one. */
const WORDS_MAX = 40;
const OTHER_WORDS = "(other)";

export function placesOfWords(texts: readonly string[]): { places: Float64Array; words: string[] } {
  const known = new Map<string, number>();
  const places = new Float64Array(texts.length);
  for (const [i, text] of texts.entries()) {
    let place = known.get(text);
    if (place === undefined) {
      place = known.size;
      if (place < WORDS_MAX) known.set(text, place);
      else place = WORDS_MAX;
    }
    places[i] = place;
  }
  const words = [...known.keys()];
  if (places.some((place) => place === WORDS_MAX)) words.push(OTHER_WORDS);
  return { places, words };
}

/** Lines of texts that share their heights, in the order the lines are given. */
export function shareWords<T extends Points>(lines: readonly T[]): T[] {
  const shared: string[] = [];
  const known = new Map<string, number>();
  return lines
    .map((line) => {
      if (line.words === undefined) return line;
      const places = line.words.map((word) => {
        let place = known.get(word);
        if (place === undefined) {
          place = Math.min(shared.length, WORDS_MAX);
          if (place < WORDS_MAX) shared.push(word);
          else shared[WORDS_MAX] = OTHER_WORDS;
          known.set(word, place);
        }
        return place;
      });
      return { ...line, y: line.y.map((place) => places[place]!), words: shared };
    })
    .filter((line, _, all) => line.words !== undefined || !all.some(({ words }) => words !== undefined));
}
