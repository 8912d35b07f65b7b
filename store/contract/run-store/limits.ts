import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import type { AppendEnvelope } from "#core/ports/journal.ts";
import {
  ackOf,
  appendOne,
  createRun,
  envelope,
  getRun,
  NOW_US,
  numbers,
  readNumbers,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

function many(prefix: string, count: number): Map<string, string> {
  return new Map(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, "1"]));
}

export function limitsContract(open: OpenStores): void {
  const bench = useStores(open);
  const exceeded = refused("exhausted", "LIMIT_EXCEEDED");

  it("keeps as many params as a run may have, and refuses one more with nothing changed", async () => {
    const id = await createRun(bench.runs, { params: many("p", limits.paramsPerRunMax - 1) });
    await bench.runs.updateRun(id, { params: new Map([["last", "1"]]) }, NOW_US);
    const change = { params: new Map([["more", "1"]]), name: "never" };
    await expect(bench.runs.updateRun(id, change, NOW_US)).rejects.toEqual(exceeded);
    const refusal = envelope(id, 1, { change, series: [numbers("loss", [1])] });
    await expect(appendOne(bench.journal, refusal)).rejects.toEqual(exceeded);
    const stored = await getRun(bench.runs, id);
    expect(stored).toMatchObject({ name: "a run" });
    expect(stored.params.size).toBe(limits.paramsPerRunMax);
    expect(await bench.engine.info()).toMatchObject({ series: 0, points: 0 });
    // One is removed, one added.
    await bench.runs.updateRun(id, { ...change, removeParams: ["p0"] }, NOW_US);
    await bench.runs.updateRun(id, { params: new Map([["p1", "2"]]) }, NOW_US);
  });

  it("refuses more tags and aliases than a run may have", async () => {
    const id = await createRun(bench.runs, { tags: many("t", limits.tagsPerRunMax) });
    await expect(bench.runs.updateRun(id, { tags: new Map([["more", ""]]) }, NOW_US)).rejects.toEqual(
      exceeded,
    );
    const aliases = [...many("a", limits.aliasesPerRunMax).keys()];
    await bench.runs.updateRun(id, { addAliases: aliases }, NOW_US);
    await expect(bench.runs.updateRun(id, { addAliases: ["more"] }, NOW_US)).rejects.toEqual(exceeded);
    expect(await bench.runs.findRuns({ by: "alias", alias: "more", namespace: "" })).toEqual([]);
  });

  it("keeps an envelope with as many points as it may have", async () => {
    const id = await createRun(bench.runs);
    const values = Array.from({ length: limits.envelopePointsMax }, (_, i) => i / 8);
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", values)] }));
    await bench.under.settle();
    expect(await readNumbers(bench.points, id, "loss")).toEqual(values);
  });

  it("applies 20 writers that write at once, each in its order", async () => {
    const id = await createRun(bench.runs);
    const series = (writer: number, seq: number) => [
      numbers("loss", [seq, -seq], 2 * seq, [["rank", String(writer)]]),
      numbers("shared", [seq], seq),
    ];
    const calls: Promise<unknown>[] = [];
    for (let seq = 1; seq <= 30; seq++) {
      for (let writer = 0; writer < 20; writer++) {
        const change = seq % 10 === 0 ? { params: new Map([[`w${writer}.${seq}`, "1"]]) } : undefined;
        calls.push(
          appendOne(
            bench.journal,
            envelope(id, seq, { writer: `w${writer}`, series: series(writer, seq), change }),
          ),
        );
      }
      // Folds run beside the writes.
      if (seq % 10 === 0) calls.push(bench.under.settle());
    }
    await Promise.all(calls);
    const ledger = await bench.runs.verifyRun(id);
    expect(ledger).toMatchObject({ points: 20 * 30 * 3, problems: [] });
    expect(ledger.writers).toHaveLength(20);
    for (const writer of ledger.writers)
      expect(writer).toMatchObject({ envelopes: 30, lastSeq: 30, gaps: [] });
    for (let writer = 0; writer < 20; writer++) {
      const values = await readNumbers(bench.points, id, "loss", { labels: [["rank", String(writer)]] });
      expect(values).toEqual(Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? 1 : -1) * (1 + (i >> 1))));
    }
    expect((await getRun(bench.runs, id)).params.size).toBe(60);
  });

  it("applies envelopes that do not wait for each other in the order they were given", async () => {
    const id = await createRun(bench.runs);
    const pending: Promise<unknown>[] = [];
    for (let seq = 1; seq <= 200; seq += 2) {
      const pair: AppendEnvelope[] = [seq, seq + 1].map((n) =>
        envelope(id, n, { series: [numbers("loss", [n], n)] }),
      );
      pending.push(bench.journal.append(pair, NOW_US).then((outcomes) => outcomes.map(ackOf)));
      if (seq % 20 === 1) pending.push(bench.runs.updateRun(id, { name: `after ${seq + 1}` }, NOW_US));
    }
    await Promise.all(pending);
    expect(await readNumbers(bench.points, id, "loss")).toHaveLength(200);
    expect(await getRun(bench.runs, id)).toMatchObject({ name: "after 182" });
  });
}
