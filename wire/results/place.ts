import type { Caller } from "#core/access/caller.ts";
import { CairnError, quote } from "#core/errors.ts";
import type { Runs } from "#core/runs/runs.ts";

/** Where a record is: the run by its alias in a namespace, and the key. */
export interface Place {
  namespace: string;
  run: string;
  key: string;
}

/** A place whose run is there, with the records it has: params, as JSON text. */
export interface FoundPlace extends Place {
  records: ReadonlyMap<string, string>;
}

const SEGMENTS_MAX = 64;
const ASKED_MAX = 10_000;
const ASKED_MS_MAX = 60_000;

/**
 * Finds out where in NAMESPACE/RUN/KEY the key begins: namespaces and keys both hold "/".
 *
 * A client that puts a record first asks whether its base NAMESPACE/RUN is there (fsspec does so before each write), so
 * the base a caller asked for last tells. Where it did not, the run that is there and has the longest path does, and where
 * there is none, the key is the last segment.
 */
export class Places {
  readonly #runs: Runs;
  /** When who asked for which path, the latest last. */
  readonly #asked = new Map<string, number>();
  readonly #nowMs: () => number;

  constructor(runs: Runs, nowMs: () => number = () => performance.now()) {
    this.#runs = runs;
    this.#nowMs = nowMs;
  }

  /** The longest run that is there and has a record of that key, or else the run itself, with an empty key. */
  async find(caller: Caller, path: string): Promise<FoundPlace | undefined> {
    this.#note(caller, path);
    const segments = splitPath(path);
    const found = await this.#existing(caller, segments);
    return (
      found.find(({ key, records }) => key !== "" && records.has(key)) ?? found.find(({ key }) => key === "")
    );
  }

  /** Where a record of that path belongs. */
  async choose(caller: Caller, path: string): Promise<Place> {
    const segments = splitPath(path);
    const asked = this.#lastBase(caller, segments);
    if (asked !== undefined) return placeAt(segments, asked);
    const existing = (await this.#existing(caller, segments)).find(({ key }) => key !== "");
    if (existing !== undefined) return existing;
    if (segments.length < 3) {
      throw new CairnError(
        "invalid",
        `cannot store results under ${quote(path)}: it is not NAMESPACE/RUN/KEY`,
      );
    }
    return placeAt(segments, segments.length - 1);
  }

  /** All runs along the path that are there and may be read, the longest first. */
  async #existing(caller: Caller, segments: readonly string[]): Promise<FoundPlace[]> {
    const places = segments
      .map((_, i) => placeAt(segments, i + 1))
      .filter(({ namespace }) => namespace !== "");
    if (places.length === 0) return [];
    const query = places
      .map(
        ({ namespace, run }) =>
          `(alias = ${JSON.stringify(run)} and namespace = ${JSON.stringify(namespace)})`,
      )
      .join(" or ");
    const request = { query, namespace: "", trashed: false, pageToken: "", pageSize: places.length };
    const { runs } = await this.#runs.search(caller, { ...request, columns: ["params", "aliases"] });
    return places.toReversed().flatMap((place) => {
      const hit = runs.find(
        ({ run }) => run.namespace === place.namespace && run.aliases.includes(place.run),
      );
      return hit === undefined ? [] : [{ ...place, records: hit.run.params }];
    });
  }

  #note(caller: Caller, path: string): void {
    const asked = askedKey(caller, path);
    this.#asked.delete(asked);
    this.#asked.set(asked, this.#nowMs());
    for (const [oldest, atMs] of this.#asked) {
      if (this.#asked.size <= ASKED_MAX && this.#nowMs() - atMs <= ASKED_MS_MAX) break;
      this.#asked.delete(oldest);
    }
  }

  /** How many segments the base has that was asked for last. */
  #lastBase(caller: Caller, segments: readonly string[]): number | undefined {
    let last: number | undefined;
    let lastMs = this.#nowMs() - ASKED_MS_MAX;
    for (let count = 2; count < segments.length; count++) {
      const atMs = this.#asked.get(askedKey(caller, segments.slice(0, count).join("/")));
      if (atMs === undefined || atMs < lastMs) continue;
      last = count;
      lastMs = atMs;
    }
    return last;
  }
}

function askedKey({ principal }: Caller, path: string): string {
  return `${principal.kind} ${principal.name} ${path}`;
}

function splitPath(path: string): string[] {
  const segments = path.split("/");
  if (segments.length > SEGMENTS_MAX) {
    throw new CairnError(
      "invalid",
      `cannot find results under ${quote(path)}: it has over ${SEGMENTS_MAX} segments`,
    );
  }
  return segments;
}

/** With a run that ends after so many segments. */
function placeAt(segments: readonly string[], count: number): Place {
  return {
    namespace: segments.slice(0, count - 1).join("/"),
    run: segments[count - 1]!,
    key: segments.slice(count).join("/"),
  };
}
