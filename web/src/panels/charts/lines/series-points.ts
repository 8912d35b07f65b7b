import { SeriesKind, type Axis, type SeriesData } from "#proto/cairn/v1/metric_pb.ts";
import { numberCounts, seriesMarks, type Grid } from "#sdk/series.ts";
import type { Points } from "../../../charts/lines/line.ts";

/** One series of an answer as points of a chart. `originUs` is subtracted from times. */
export function seriesPoints(data: SeriesData, axis: Axis, grid: Grid, originUs = 0): Points {
  const marks = seriesMarks(data, axis, grid, originUs);
  const { x, mean: y, low, high, nan, exact, pointCount, unplacedCount } = marks;
  const points = { x, y, exact, pointCount, unplacedCount };
  if (!exact) {
    const hasNan = Uint8Array.from(nan, (each) => Number(each > 0));
    return { ...points, low, high, count: numberCounts(marks), nan: hasNan };
  }
  if (data.kind !== SeriesKind.TEXT) return points;
  const { places, words } = placesOfWords(data.texts.slice(0, x.length));
  return { ...points, y: places, words };
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
