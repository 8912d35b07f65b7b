import fc from "fast-check";
import { expect, it } from "vitest";
import type { Labels } from "#core/types/series.ts";
import type { OwnedSeries, SeriesOwner, SeriesSelection, SelectSeries } from "#core/ports/point-store.ts";
import type { Matcher } from "#core/types/matchers.ts";
import {
  appendOne,
  AUDIT,
  createRun,
  envelope,
  EVERYTHING,
  hostEnvelope,
  inEveryForm,
  NOW_US,
  numbers,
  refused,
  selectOf,
  useSharedStores,
  type Bench,
  type OpenStores,
} from "../stores.ts";

const KEYS = ["loss", "Loss", "val/loss", "a\\b", "🐈"];
const VALUES = ["0", "1", "10", "a b", "é", ""];
const PATTERNS = ["", "0", "1?0?", "[0-1]", ".*", "(?i)LOSS", "loss|0", ".", "val/.*", "[^0]+", "🐈"];

const matcherArbitrary: fc.Arbitrary<Matcher> = fc.record({
  label: fc.constantFrom("", "rank", "host", "none"),
  op: fc.constantFrom("=", "!=", "=~", "!~"),
  value: fc.constantFrom(...KEYS.slice(0, 3), ...VALUES, ...PATTERNS.slice(0, 10)),
});

const seriesArbitrary = fc.record({
  /** The last one is a host. */
  owner: fc.nat(2),
  key: fc.constantFrom(...KEYS),
  rank: fc.option(fc.constantFrom(...VALUES), { nil: undefined }),
  host: fc.option(fc.constantFrom(...VALUES), { nil: undefined }),
});

/** A matcher by the regular expressions of JavaScript, which agree on these patterns. */
function holds({ label, op, value }: Matcher, key: string, labels: Labels): boolean {
  const text = label === "" ? key : (labels.find(([name]) => name === label)?.[1] ?? "");
  if (op === "=" || op === "!=") return (op === "=") === (text === value);
  const [flags, body] = value.startsWith("(?i)") ? ["siu", value.slice(4)] : ["su", value];
  return (op === "=~") === new RegExp(`^(?:${body})$`, flags).test(text);
}

function labelsOf({ rank, host }: { rank: string | undefined; host: string | undefined }): Labels {
  const pairs: [string, string][] = [];
  if (host !== undefined) pairs.push(["host", host]);
  if (rank !== undefined) pairs.push(["rank", rank]);
  return pairs;
}

type Named = SeriesOwner & { key: string; labels: Labels };
const nameOf = ({ runId, host, key, labels }: Named) => JSON.stringify([runId ?? host, key, labels]);

/** Every page, with the smallest possible work for each. */
async function allPages(bench: Bench, request: Partial<SelectSeries>): Promise<OwnedSeries[]> {
  const found: OwnedSeries[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < 1_000; pages++) {
    const page = await selectOf(bench.points, "", { ...request, after });
    found.push(...page.series);
    if (page.next === undefined) return found;
    after = page.next;
  }
  throw new Error("the pages do not end");
}

export function selectContract(open: OpenStores, cases: number): void {
  const bench = useSharedStores(open);

  it("V10 V11 V16 selects any series like the model, in pages of any size", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(seriesArbitrary, { maxLength: 25 }),
        fc.array(matcherArbitrary, { maxLength: 3 }),
        fc.record({ limit: fc.integer({ min: 1, max: 9 }), lookMax: fc.integer({ min: 2, max: 12 }) }),
        fc.boolean(),
        async (made, matchers, bounds, settle) => {
          const [first, second] = [await createRun(bench.runs), await createRun(bench.runs)];
          const host = { namespace: "lab", name: first };
          const owners: SeriesOwner[] = [{ runId: first }, { runId: second }, { host }];
          const model = new Map<string, Named>();
          for (const [i, one] of made.entries()) {
            const owner = owners[one.owner]!;
            const series = { ...owner, key: one.key, labels: labelsOf(one) };
            model.set(nameOf(series), series);
            const points = [numbers(one.key, [i], i, series.labels)];
            const appended =
              owner.host === undefined
                ? envelope(owner.runId, 0, { series: points })
                : hostEnvelope(owner.host, points);
            await appendOne(bench.journal, appended);
          }
          if (settle) await bench.under.settle();
          const expected = [...model.values()].filter(({ key, labels }) =>
            matchers.every((matcher) => holds(matcher, key, labels)),
          );
          const scope = { owners };
          const found = await allPages(bench, { scope, matchers, ...bounds });
          expect(found.map(nameOf).sort()).toEqual(expected.map(nameOf).sort());
          const selectors = owners.map((owner) =>
            Object.assign({ key: undefined, labels: undefined, matchers }, owner),
          );
          const read = await bench.points.readSeries({ ...EVERYTHING, selectors });
          expect(read.series.map(nameOf).sort()).toEqual(expected.map(nameOf).sort());
          await compareLabels({ scope, matchers, lookMax: 1_000 }, expected);
        },
      ),
      { numRuns: cases },
    );
  });

  async function compareLabels(
    selection: SeriesSelection,
    expected: readonly { key: string; labels: Labels }[],
  ): Promise<void> {
    for (const label of [undefined, "", "rank", "none"]) {
      const texts = expected.flatMap(({ key, labels }) => {
        if (label === "") return [key];
        if (label === undefined) return labels.map(([name]) => name);
        return labels.filter(([name]) => name === label).map(([, value]) => value);
      });
      const counts = Map.groupBy(texts, (text) => text);
      const found: [string, number][] = [];
      let after: string | undefined;
      for (;;) {
        const part = await bench.points.listLabels({ ...selection, label, after, limit: 2 });
        found.push(...part.texts.map(({ text, seriesCount }): [string, number] => [text, seriesCount]));
        expect(part.truncated).toBe(false);
        if (!part.more) break;
        after = part.texts.at(-1)!.text;
      }
      expect(found.map(([text]) => text)).toEqual([...counts.keys()].sort());
      for (const [text, count] of found) expect(count).toBe(counts.get(text)!.length);
    }
  }

  it("V10 selects among all runs that are readable by a mask, and none in the trash", async () => {
    const inside = await createRun(bench.runs, { namespace: "masked/in" });
    const other = await createRun(bench.runs, { namespace: "masked/out" });
    const hidden = await createRun(bench.runs, { namespace: "masked/in" });
    const trashed = await createRun(bench.runs, { namespace: "masked/in" });
    for (const id of [inside, other, hidden, trashed]) {
      await appendOne(bench.journal, envelope(id, 1, { series: [numbers("masked", [1])] }));
    }
    await bench.runs.setDeleted(trashed, NOW_US, AUDIT);
    const readable = {
      id: "test",
      namespaces: new Map([
        ["", false],
        ["masked", true],
      ]),
      runs: new Map([[hidden, false]]),
    };
    const select = async (under: string, mask: typeof readable | undefined) => {
      const scope = { under, readable: mask };
      const matchers = [{ label: "", op: "=" as const, value: "masked" }];
      const found = await allPages(bench, { scope, matchers, lookMax: 2 });
      return found.flatMap(({ runId }) => runId ?? []).sort();
    };
    await inEveryForm(bench, async () => {
      expect(await select("", readable)).toEqual([inside, other].sort());
      expect(await select("masked/in", readable)).toEqual([inside]);
      expect(await select("masked/in", undefined)).toEqual([inside, hidden].sort());
      expect(await select("masked/i", undefined)).toEqual([]);
    });
  });

  it("V10 shows no id of a hidden run in a position", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(await createRun(bench.runs, { namespace: "veiled" }));
    const seen = ids[3]!;
    const readable = { id: "veil", namespaces: new Map([["", false]]), runs: new Map([[seen, true]]) };
    await appendOne(bench.journal, envelope(seen, 1, { series: [numbers("a", [1]), numbers("b", [1])] }));
    const scope = { under: "", readable };
    for (const lookMax of [1, 2, 3]) {
      const page = await selectOf(bench.points, "", { scope, lookMax, limit: 1 });
      const token = Buffer.from(page.next ?? "", "base64url").toString();
      for (const id of ids) if (id !== seen) expect(token).not.toContain(id);
    }
  });

  it("V11 reports when there were more series than it may read", async () => {
    const id = await createRun(bench.runs);
    const series = Array.from({ length: 10 }, (_, i) => numbers("k", [1], 0, [["rank", String(i)]]));
    await appendOne(bench.journal, envelope(id, 1, { series }));
    const scope = { owners: [{ runId: id }] };
    const asked = { scope, matchers: [], label: "rank", after: undefined, limit: 100 };
    expect(await bench.points.listLabels({ ...asked, lookMax: 11 })).toMatchObject({ truncated: false });
    const cut = await bench.points.listLabels({ ...asked, lookMax: 5 });
    expect(cut).toMatchObject({ truncated: true, texts: { length: 4 } });
  });

  it("V10 refuses an invalid position, and bounds the time of patterns", async () => {
    const id = await createRun(bench.runs);
    await expect(selectOf(bench.points, id, { after: "nonsense" })).rejects.toEqual(
      refused("invalid", "PAGE_TOKEN"),
    );
  });
}
