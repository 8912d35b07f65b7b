import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SharedNumber } from "#base/threads/shared-number.ts";
import type { DeleteSeries } from "#core/ports/point-store.ts";
import { FeedRecorder } from "#store/contract/feed-recorder.ts";
import { appendOne, AUDIT, createRun, envelope, newRun, NOW_US, numbers } from "#store/contract/stores.ts";
import { packEnvelope } from "../journal/pack.ts";
import { openOnDisk, tamper, type SqliteUnderTest } from "../testing/under-test.ts";
import { StoreWriter } from "../writer.ts";

/** More than a call takes as arguments. */
const VERY_MANY = 200_000;

describe("the feed of changed runs", () => {
  let under: SqliteUnderTest & { data: string };

  beforeEach(async () => {
    under = await openOnDisk();
  });
  afterEach(() => under.discard());

  const appendLoss = (id: string, seq: number) =>
    appendOne(under.journal, envelope(id, seq, { series: [numbers("loss", [seq], seq)] }));
  const nameOf = (number: number) => String(number).padStart(7, "0");
  /** The only run has so many series more, as nameOf names them: far sooner than by appending them. */
  const multiplySeries = (data: string, count: number) =>
    tamper(data, (db) =>
      db.exec(
        `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
         INSERT INTO series (run, key, labels, kind, folded_pos, chunks, state)
         SELECT run, format('%07d', n.i), labels, kind, folded_pos, 0, state FROM series, n`,
      ),
    );
  const deletionOf = (runId: string, key: string): DeleteSeries => {
    const matchers = [{ label: "", op: "=", value: key } as const];
    const range = { axis: "step", from: undefined, to: undefined, after: undefined } as const;
    return { owner: { runId }, matchers, ...range, pointsMax: 1_000, seriesMax: 1 };
  };
  const deleteKey = (runId: string, key: string) => under.points.deleteSeries(deletionOf(runId, key), AUDIT);

  it("J4 sends a run of which series were deleted, however many it has", async () => {
    const data = join(under.directory, "own");
    await mkdir(data);
    // On this thread, which takes fewer arguments than that of a store.
    const writer = new StoreWriter(join(data, "cairn.db"), new SharedNumber());
    const run = newRun();
    await writer.changeRun((table) => table.create(run, false));
    await writer.append([packEnvelope(envelope(run.id, 1, { series: [numbers("loss", [1])] }), NOW_US)]);
    await writer.settle();
    multiplySeries(data, VERY_MANY);
    const { journal, position } = writer.runsSince(undefined).mark;
    await writer.deleteSeries(deletionOf(run.id, "loss"), AUDIT);
    const { purged, runs, metrics } = writer.runsSince({ journal, position });
    expect([purged.length, runs.map(({ id }) => id)]).toEqual([1, [run.id]]);
    expect(metrics!.runs).toHaveLength(VERY_MANY);
    writer.close();
  });

  it("J4 sends a large run once when series were deleted from it again and again", async () => {
    const SERIES = 25_000;
    const id = await createRun(under.runs);
    await appendLoss(id, 1);
    await under.settle();
    multiplySeries(under.data, SERIES);
    const behind = under.feed.resume(under.changes);
    await behind.catchUp();
    const known = behind.batches.length;
    const other = await createRun(under.runs);
    for (let i = 0; i < 10; i++) {
      await deleteKey(id, nameOf(i));
      await appendLoss(other, i + 1);
    }
    await behind.catchUp();
    const sent = behind.batches.slice(known).reduce((sum, { metrics }) => sum + metrics!.runs.length, 0);
    expect(sent).toBeLessThan(SERIES + 20);
    expect(behind.metricKeys(id)).toHaveLength(SERIES + 1 - 10);
    expect(behind.findNumbers(other, "loss")).toMatchObject({ count: 10 });
  });

  it("J4 ends a scan also when the journal forgets the position at which it began", async () => {
    const SERIES = 25_000;
    const id = await createRun(under.runs);
    await appendLoss(id, 1);
    await under.settle();
    multiplySeries(under.data, SERIES);
    const follower = new FeedRecorder(under.changes);
    let parts = 0;
    do {
      await follower.takeOne();
      parts++;
      await under.runs.updateRun(id, { name: `after ${parts}` }, NOW_US);
      await appendLoss(id, parts + 1);
      await deleteKey(id, nameOf(parts));
      tamper(under.data, (db) => db.exec("DELETE FROM change WHERE pos < (SELECT max(pos) - 3 FROM change)"));
    } while (follower.batches.at(-1)!.mark.scanned !== undefined && parts < 20);
    await follower.catchUp();
    expect(follower.batches.filter(({ reset }) => reset)).toHaveLength(1);
    expect(follower.findRun(id)).toMatchObject({ name: `after ${parts}` });
    expect(follower.findNumbers(id, "loss")).toMatchObject({ count: parts + 1 });
    expect(follower.metricKeys(id)).toHaveLength(1 + SERIES - parts);
  });
});
