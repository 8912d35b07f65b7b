import { CHANGED_RUNS } from "#core/ports/journal.ts";
import { expect, it } from "vitest";
import type { DeleteSeries } from "#core/ports/point-store.ts";
import type { Matcher } from "#core/types/matchers.ts";
import {
  appendOne,
  AUDIT,
  createRun,
  envelope,
  expectIntact,
  inEveryForm,
  numbers,
  type OpenStores,
  readNumbers,
  refused,
  selectOf,
  useStores,
} from "../stores.ts";

const KEY = (value: string): Matcher => ({ label: "", op: "=", value });

export function deleteContract(open: OpenStores): void {
  const bench = useStores(open);
  const remove = (runId: string, parts: Partial<DeleteSeries> = {}) =>
    bench.points.deleteSeries(
      {
        owner: { runId },
        matchers: [KEY("loss")],
        axis: "step",
        from: undefined,
        to: undefined,
        after: undefined,
        pointsMax: 1_000_000,
        seriesMax: 1_000,
        ...parts,
      },
      AUDIT,
    );
  const losses = [1, 2, 3, 4, 5, 6];

  /** Some of it in chunks, some in the log. */
  const make = async () => {
    const id = await createRun(bench.runs);
    const series = [numbers("loss", losses), numbers("acc", [9])];
    await appendOne(bench.journal, envelope(id, 1, { series }));
    await bench.under.settle();
    const more = { series: [numbers("loss", losses, 6), numbers("acc", [8], 1)] };
    await appendOne(bench.journal, envelope(id, 2, more));
    return id;
  };

  it("V12 V13 deletes from chunks and log alike, and a repeated envelope restores nothing", async () => {
    const id = await make();
    expect(await remove(id, { from: 4, to: 7 })).toEqual({ series: 1, points: 4, next: undefined });
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2, 3, 4, 3, 4, 5, 6]);
      expect(await readNumbers(bench.points, id, "acc")).toEqual([9, 8]);
      const again = { series: [numbers("loss", losses, 6), numbers("acc", [8], 1)] };
      expect(await appendOne(bench.journal, envelope(id, 2, again))).toMatchObject({ duplicate: true });
      const { points, problems, writers } = await bench.runs.verifyRun(id);
      expect({ points, problems }).toEqual({ points: 10, problems: [] });
      expect(writers).toMatchObject([{ envelopes: 2, lastSeq: 2, gaps: [], lost: [] }]);
      await expectIntact(bench);
    });
  });

  it("V12 a deleted series is no longer counted, and starts empty, with any kind", async () => {
    const id = await make();
    expect(await remove(id)).toEqual({ series: 1, points: 12, next: undefined });
    const texts = {
      count: 1,
      steps: Float64Array.of(3),
      times: undefined,
      nanos: undefined,
      values: { kind: "text", data: ["x"] },
    } as const;
    await bench.reopen();
    expect((await selectOf(bench.points, id)).series.map(({ key }) => key)).toEqual(["acc"]);
    await appendOne(bench.journal, envelope(id, 3, { series: [{ key: "loss", labels: [], points: texts }] }));
    await inEveryForm(bench, async () => {
      const { series } = await selectOf(bench.points, id);
      expect(series).toMatchObject([{ key: "acc" }, { key: "loss", kind: "text", summary: { count: 1 } }]);
      expect(await bench.runs.verifyRun(id)).toMatchObject({ points: 3, problems: [] });
    });
  });

  it("V12 the run index gets the new summaries, and deletions of series", async () => {
    const id = await make();
    const { feed } = bench.under;
    await feed.catchUp();
    await remove(id, { from: 4 });
    await feed.catchUp();
    expect(feed.findNumbers(id, "loss")).toMatchObject({ count: 4, max: 4, last: 4, lastStep: 3 });
    await remove(id);
    await feed.catchUp();
    expect(feed.findNumbers(id, "loss")).toBeUndefined();
    expect(feed.findNumbers(id, "acc")).toMatchObject({ count: 2 });
  });

  it("V12 works in parts that miss and repeat nothing", async () => {
    const id = await createRun(bench.runs);
    const series = Array.from({ length: 7 }, (_, i) => numbers("loss", losses, 0, [["rank", String(i)]]));
    await appendOne(bench.journal, envelope(id, 1, { series }));
    const sizes: number[] = [];
    let after: string | undefined;
    do {
      const part = await remove(id, { after, from: 1, pointsMax: 13, seriesMax: 3 });
      sizes.push(part.points);
      after = part.next;
    } while (after !== undefined);
    expect(sizes).toEqual([10, 10, 10, 5]);
    expect((await remove(id, { after, from: 1 })).series).toBe(0);
  });

  it("V14 writes one record with how much was deleted, and none when nothing was", async () => {
    const id = await make();
    const count = async () => (await bench.under.access.getAuditHead()).count;
    const before = await count();
    await remove(id, { matchers: [KEY("none")] });
    await remove(id, { from: 100 });
    expect(await count()).toBe(before);
    await remove(id, { from: 10 });
    expect(await count()).toBe(before + 1);
    const [entry] = await bench.under.access.listAudit({
      principal: undefined,
      action: undefined,
      target: undefined,
      before: undefined,
      limit: 1,
    });
    expect(entry).toMatchObject({ action: AUDIT.action, facts: { series: "1", points: "2" } });
    await expect(remove("0".repeat(32))).rejects.toEqual(refused("not-found"));
  });

  it("V14 the journal returns no deleted point", async () => {
    const id = await createRun(bench.runs);
    const { journal } = bench.under;
    const { position: after } = await journal.changesSince(undefined, CHANGED_RUNS);
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", losses)] }));
    const read = async () => {
      const { position: upTo } = await journal.changesSince(undefined, CHANGED_RUNS);
      return journal.readPoints({ runId: id, after, upTo, pointsMax: 1 });
    };
    expect((await read())?.envelopes).toHaveLength(1);
    await remove(id, { from: 2, to: 3 });
    expect(await read()).toBeUndefined();
  });
}
