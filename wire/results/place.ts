import { BoundedMap } from "#base/bounded-map.ts";
import type { Caller } from "#core/access/caller.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { quoteText } from "#lang/query/quote.ts";
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
/** Principals whose questions are remembered, and questions of each: none makes those of another be forgotten. */
const ASKERS_MAX = 1_000;
const ASKED_MAX = 256;
const ASKED_MS_MAX = 60_000;

/**
 * Finds out where in NAMESPACE/RUN/KEY the key begins: namespaces and keys both hold "/".
 *
 * A client that puts a record first asks whether its base NAMESPACE/RUN is there (fsspec does so before each write), so
 * the base tells that the same credential asked for last, where it may write. Where it did not ask, the key is the last
 * segment. That is kept per process (docs/decisions/0024-base-of-results-per-process.md). What others asked for, and which runs they made along the path, never decides where a record goes.
 */
export class Places {
  readonly #runs: Runs;
  /** By principal, when which of its credentials asked for which path, the latest last. */
  readonly #asked = new BoundedMap<string, Map<string, number>>(ASKERS_MAX);
  readonly #nowMs: () => number;

  constructor(runs: Runs, nowMs: () => number = () => performance.now()) {
    this.#runs = runs;
    this.#nowMs = nowMs;
  }

  /**
   * The run along the path that has a record of that key, or else the run itself, with an empty key. Where several have
   * one, that of the base the caller asked for last; throws `precondition` (RESULT_AMBIGUOUS) where that does not tell.
   */
  async find(caller: Caller, path: string): Promise<FoundPlace | undefined> {
    const segments = splitPath(path);
    const base = this.#lastBase(caller, segments);
    this.#note(caller, path);
    const found = await this.#existing(caller, segments);
    const records = found.filter(({ key, records: has }) => key !== "" && has.has(key));
    if (records.length < 2) return records[0] ?? found.find(({ key }) => key === "");
    const asked = base === undefined ? undefined : placeAt(segments, base);
    const own = records.find(({ namespace, run }) => namespace === asked?.namespace && run === asked.run);
    if (own === undefined) throw ambiguous(path, records);
    return own;
  }

  /** Where a record of that path belongs. */
  choose(caller: Caller, path: string): Place {
    const segments = splitPath(path);
    const asked = this.#lastBase(caller, segments);
    if (asked !== undefined) return placeAt(segments, asked);
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
      .map(({ namespace, run }) => `(alias = ${quoteText(run)} and namespace = ${quoteText(namespace)})`)
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
    const asker = askerKey(caller);
    const asked = this.#asked.get(asker) ?? new BoundedMap<string, number>(ASKED_MAX);
    this.#asked.set(asker, asked);
    asked.set(askedKey(caller, path), this.#nowMs());
  }

  /** How many segments the base has that was asked for last and where the caller may do what the call declares. */
  #lastBase(caller: Caller, segments: readonly string[]): number | undefined {
    const asked = this.#asked.get(askerKey(caller));
    let last: number | undefined;
    let lastMs = this.#nowMs() - ASKED_MS_MAX;
    for (let count = 2; count < segments.length; count++) {
      const atMs = asked?.get(askedKey(caller, segments.slice(0, count).join("/")));
      if (atMs === undefined || atMs < lastMs) continue;
      const { namespace } = placeAt(segments, count);
      if (!caller.rights.may(caller.permission, { namespace })) continue;
      last = count;
      lastMs = atMs;
    }
    return last;
  }
}

function askerKey({ principal: { kind, name } }: Caller): string {
  return `${kind} ${name}`;
}

/** Two tokens of one principal may be in different hands. */
function askedKey({ tokenId = "" }: Caller, path: string): string {
  return `${tokenId} ${path}`;
}

function ambiguous(path: string, found: readonly Place[]): CairnError {
  const runs = found.map(({ namespace, run }) => quote(`${namespace}/${run}`));
  return new CairnError(
    "precondition",
    `cannot choose a record for ${quote(path)}: the runs ${runs.join(" and ")} both have one`,
    {
      reason: "RESULT_AMBIGUOUS",
      hint: "ask for NAMESPACE/RUN first, or give one of the runs another alias",
    },
  );
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
