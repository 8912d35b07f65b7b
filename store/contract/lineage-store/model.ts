/** Lineages of random graphs, with cycles and hidden runs, against the simplest possible walk. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Direction, Walked } from "#core/lineage/walk.ts";
import { walkLineage } from "#core/lineage/walk.ts";
import { buildCore } from "../core-under-test.ts";
import { callerWithout } from "../masked-caller.ts";
import { createRun, NOW_US, useSharedStores, type Bench, type OpenStores } from "../stores.ts";

const RUNS = 6;
const THINGS = 8;
const ARTIFACTS = ["", "model", "closed"] as const;

/** Things below RUNS are runs, the others are outside. */
interface Case {
  links: { child: number; source: number; artifact: (typeof ARTIFACTS)[number] }[];
  hidden: number[];
  directions: readonly Direction[];
  depth: number;
}

const caseArbitrary: fc.Arbitrary<Case> = fc.record({
  links: fc.array(
    fc.record({
      child: fc.nat(RUNS - 1),
      source: fc.nat(THINGS - 1),
      artifact: fc.constantFrom(...ARTIFACTS),
    }),
    { minLength: 1, maxLength: 14, size: "max" },
  ),
  // The first is the start of the walk.
  hidden: fc.uniqueArray(fc.integer({ min: 1, max: RUNS - 1 }), { maxLength: 3 }),
  directions: fc.constantFrom<readonly Direction[]>(["sources", "children"], ["sources"], ["children"]),
  depth: fc.constantFrom(1, 1, 2, 2, 3, 4),
});

interface Graph {
  nodes: string[];
  edges: string[];
  truncated: boolean;
}

/** By the words of SPEC.md, scanning all links repeatedly. */
function naive({ links, hidden, directions, depth }: Case): Graph {
  const isHidden = (thing: number) => hidden.includes(thing);
  const isWalked = (thing: number) => thing < RUNS && !isHidden(thing);
  const distances = (direction: Direction): Map<number, number> => {
    const found = new Map<number, number>();
    if (!directions.includes(direction)) return found;
    found.set(0, 0);
    for (let level = 1; level <= depth; level++) {
      for (const { child, source } of links) {
        const [near, far] = direction === "sources" ? [child, source] : [source, child];
        if (found.get(near) === level - 1 && isWalked(near) && !found.has(far)) found.set(far, level);
      }
    }
    return found;
  };
  const up = distances("sources");
  const down = distances("children");
  const nodes = new Set([...up.keys(), ...down.keys()]);
  const wayTo = (thing: number) => {
    const [above, below] = [up.get(thing) ?? Infinity, down.get(thing) ?? Infinity];
    return above <= below ? -above : below;
  };
  const kindOf = (thing: number) => (thing >= RUNS ? "external" : isHidden(thing) ? "hidden" : "run");
  const shown = links.filter(({ child, source }) => {
    if (!nodes.has(child) || !nodes.has(source)) return false;
    return isWalked(child) || (isWalked(source) && down.has(source));
  });
  const nameOf = ({ child, source, artifact }: Case["links"][number]) => {
    if (isHidden(child) || isHidden(source)) return "";
    return artifact === "closed" && source < RUNS ? "" : artifact;
  };
  return {
    nodes: [...nodes].map((thing) => `${thing} ${kindOf(thing)} ${wayTo(thing)}`).sort(),
    edges: [...new Set(shown.map((link) => `${link.source} > ${link.child} ${nameOf(link)}`))].sort(),
    truncated: links.some(
      ({ child, source }) =>
        (up.has(child) && isWalked(child) && !nodes.has(source)) ||
        (down.has(source) && isWalked(source) && !nodes.has(child)),
    ),
  };
}

function graphOf({ nodes, edges, truncated }: Omit<Walked, "bytes">, things: readonly string[]): Graph {
  const nameOf = (place: number) => things.indexOf(nodes[place]!.id);
  return {
    nodes: nodes.map(({ kind, distance }, place) => `${nameOf(place)} ${kind} ${distance}`).sort(),
    edges: edges
      .map(({ source, child, artifact }) => `${nameOf(source)} > ${nameOf(child)} ${artifact}`)
      .sort(),
    truncated,
  };
}

async function write(bench: Bench, { links }: Case): Promise<string[]> {
  const runs = await Promise.all(Array.from({ length: RUNS }, () => createRun(bench.runs)));
  // Outside ids are shared by all cases; their other children must not matter.
  const things = [...runs, "s3://a", "job://b/c"];
  for (const { child, source, artifact } of links) {
    await bench.under.links.addSource({
      childId: things[child]!,
      source: things[source]!,
      artifact,
      createdUs: NOW_US,
    });
  }
  return things;
}

async function check(bench: Bench, tested: Case): Promise<void> {
  const things = await write(bench, tested);
  const { directions, depth } = tested;
  const hidden = new Set(tested.hidden.map((thing) => things[thing]!));
  const { bytes, ...walked } = await walkLineage(bench.under.links, {
    root: { id: things[0]!, namespace: "lab" },
    directions,
    depth,
    nodesMax: 1_000,
    edgesMax: 1_000,
    bytesMax: 1e6,
    sees: ({ id }) => !hidden.has(id),
    seesArtifact: (_, artifact) => artifact !== "closed",
  });
  expect(bytes).toBeGreaterThan(0);
  expect(graphOf(walked, things)).toEqual(naive(tested));
  // Core shows the same graph, without a trace of hidden runs.
  const { lineage } = await buildCore(bench.under);
  const drawn = await lineage.get(callerWithout({ runs: [...hidden], artifacts: ["closed"] }, "read"), {
    run: { by: "id", id: things[0]! },
    direction: directions.length === 2 ? "both" : directions[0]!,
    depth,
  });
  expect(drawn).toEqual({
    ...walked,
    nodes: walked.nodes.map(({ id, kind, distance }) => {
      if (kind === "hidden") return { kind, distance };
      if (kind === "external") return { kind, externalId: id, distance };
      return { kind, distance, runId: id, name: "a run", namespace: "lab", status: "running", artifacts: [] };
    }),
  });
  for (const id of hidden) expect(JSON.stringify(drawn)).not.toContain(id);
}

const BATCH = 100;

export function lineageModelContract(open: OpenStores, batches: number): void {
  const bench = useSharedStores(open);

  it("I5 I6 walks any graph like the model", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(caseArbitrary, { minLength: BATCH, maxLength: BATCH }), async (cases) => {
        await Promise.all(
          cases.map((tested) =>
            check(bench, tested).catch((thrown: unknown) => {
              throw new Error(`with ${JSON.stringify(tested)}`, { cause: thrown });
            }),
          ),
        );
      }),
      { numRuns: batches, endOnFailure: true },
    );
  });
}
