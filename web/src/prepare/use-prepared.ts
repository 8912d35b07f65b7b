import { useEffect, useState } from "react";
import { BoundedMap } from "#base/bounded-map.ts";
import { Preparer } from "./preparer.ts";
import type { Outcome, Preparations } from "./prepared.ts";

type Remembered = { [K in keyof Preparations]: Map<string, Outcome<Preparations[K]>> };

const REMEMBERED_MAX = 16;

const preparer = new Preparer(() => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }));
/** A cache of the last results, so that a page that is opened again shows them at once. */
const remembered: Remembered = {
  markdown: new BoundedMap(REMEMBERED_MAX),
  html: new BoundedMap(REMEMBERED_MAX),
  svg: new BoundedMap(REMEMBERED_MAX),
};

/** The prepared text; undefined while it is being prepared. */
export function usePrepared<K extends keyof Preparations>(
  kind: K,
  text: string,
): Outcome<Preparations[K]> | undefined {
  const known = remembered[kind];
  const [made, setMade] = useState<{ text: string; outcome: Outcome<Preparations[K]> }>();
  const outcome = made?.text === text ? made.outcome : known.get(text);
  const isKnown = outcome !== undefined;
  useEffect(() => {
    if (isKnown) return undefined;
    const left = new AbortController();
    void preparer.prepare(kind, text, left.signal).then((prepared) => {
      if (left.signal.aborted) return;
      setMade({ text, outcome: prepared });
      known.set(text, prepared);
    });
    return () => left.abort();
  }, [isKnown, kind, text, known]);
  return outcome;
}
