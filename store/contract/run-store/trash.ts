import { expect, it } from "vitest";
import {
  appendOne,
  AUDIT,
  createRun,
  envelope,
  EVERYTHING,
  expectIntact,
  getRun,
  getRuns,
  inEveryForm,
  NOW_US,
  numbers,
  type OpenStores,
  readNumbers,
  refused,
  selectOf,
  useStores,
} from "../stores.ts";

const SECOND_US = 1_000_000;

export function trashContract(open: OpenStores): void {
  const bench = useStores(open);

  it("U6 moves a run into the trash and back, and doing it twice changes nothing", async () => {
    const id = await createRun(bench.runs, { aliases: ["job"] });
    const before = await getRun(bench.runs, id);
    const deleted = await bench.runs.setDeleted(id, NOW_US + 1, AUDIT);
    expect(deleted).toEqual({ ...before, deletedUs: NOW_US + 1, deletedBy: AUDIT.principal });
    expect(await bench.runs.setDeleted(id, NOW_US + 2, { ...AUDIT, principal: "eve" })).toEqual(deleted);
    await inEveryForm(bench, async () => expect(await getRun(bench.runs, id)).toEqual(deleted));
    expect(await bench.runs.setDeleted(id, undefined, AUDIT)).toEqual(before);
    expect(await bench.runs.setDeleted(id, undefined, AUDIT)).toEqual(before);
  });

  it("U6 purges only from the trash", async () => {
    const id = await createRun(bench.runs);
    await expect(bench.runs.purgeRun(id, AUDIT)).rejects.toEqual(refused("precondition", "NOT_IN_TRASH"));
    expect(await getRun(bench.runs, id)).toMatchObject({ id });
  });

  it.each(["fresh", "at rest", "half at rest"])(
    "U6 purges everything of a run whose points are %s",
    async (form) => {
      const { runs, points } = bench;
      const id = await createRun(runs, { aliases: ["job"], namespace: "lab/x" });
      const other = await createRun(runs, { namespace: "lab/x" });
      await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1, 2, 3])] }));
      await appendOne(bench.journal, envelope(other, 1, { series: [numbers("loss", [7])] }));
      if (form !== "fresh") await bench.under.settle();
      const late = form === "half at rest";
      if (late) await appendOne(bench.journal, envelope(id, 2, { series: [numbers("acc", [4, 5])] }));
      await selectOf(points, id, { limit: 10 });
      await runs.setDeleted(id, NOW_US, AUDIT);
      expect(await runs.purgeRun(id, AUDIT)).toEqual({ points: late ? 5 : 3 });
      await inEveryForm(bench, async () => {
        expect(await getRuns(bench.runs, [id])).toEqual([]);
        expect(await bench.runs.findRuns({ by: "alias", alias: "job", namespace: "" })).toEqual([]);
        const selectors = [{ runId: id, key: "loss", labels: undefined }];
        expect(await bench.points.readSeries({ ...EVERYTHING, selectors })).toEqual({
          series: [],
          grid: undefined,
        });
        expect(await readNumbers(bench.points, other, "loss")).toEqual([7]);
        expect(await bench.engine.info()).toMatchObject({ runs: 1, series: 1, points: 1 });
        await expectIntact(bench, { points: 1, runs: 1 });
      });
      await expect(appendOne(bench.journal, envelope(id, 3))).rejects.toEqual(refused("not-found"));
      await expect(bench.runs.purgeRun(id, AUDIT)).rejects.toEqual(refused("not-found"));
    },
  );

  it("U6 shows nothing of a purged run in later runs", async () => {
    const keeper = await createRun(bench.runs);
    for (let round = 0; round < 3; round++) {
      // An older run stays, so that the tables are not empty.
      await appendOne(bench.journal, envelope(keeper, round + 1, { series: [numbers("loss", [7], round)] }));
      const old = await createRun(bench.runs, { aliases: ["job"] });
      await appendOne(bench.journal, envelope(old, 1, { series: [numbers("loss", [1, 2, 3])] }));
      // Twice: every connection that reads has seen the points.
      await Promise.all([1, 2, 3].map(() => readNumbers(bench.points, old, "loss")));
      await bench.runs.setDeleted(old, NOW_US, AUDIT);
      await bench.runs.purgeRun(old, AUDIT);
      const fresh = await createRun(bench.runs, { aliases: ["job"] });
      const ack = await appendOne(
        bench.journal,
        envelope(fresh, 1, { series: [numbers("loss", [9 + round])] }),
      );
      expect(ack).toEqual({ seq: 1, duplicate: false, points: 1 });
      for (let read = 0; read < 3; read++) {
        expect(await readNumbers(bench.points, fresh, "loss")).toEqual([9 + round]);
      }
      expect(await bench.runs.verifyRun(fresh)).toMatchObject({ points: 1, problems: [] });
      if (round === 1) await bench.under.settle();
      await bench.runs.setDeleted(fresh, NOW_US, AUDIT);
      await bench.runs.purgeRun(fresh, AUDIT);
    }
  });

  it("U8 turns a running run into a lost one after three missed intervals", async () => {
    const { runs } = bench;
    const id = await createRun(runs);
    const change = { heartbeatSeconds: 10 };
    await appendOne(bench.journal, envelope(id, 1, { change }), NOW_US);
    expect(await runs.expireHeartbeats(NOW_US + 30 * SECOND_US)).toBe(0);
    expect(await runs.expireHeartbeats(NOW_US + 30 * SECOND_US + 1)).toBe(1);
    const lost = await getRun(runs, id);
    expect(lost).toMatchObject({ status: "lost", endedUs: NOW_US + 30 * SECOND_US + 1 });
    expect(await runs.expireHeartbeats(NOW_US + 90 * SECOND_US)).toBe(0);
    const back = await runs.updateRun(id, { status: "running" }, NOW_US + 91 * SECOND_US);
    expect(back).toMatchObject({ status: "running", endedUs: undefined });
  });

  it("U8 counts every envelope as a heartbeat, with or without a number", async () => {
    const { runs } = bench;
    const id = await createRun(runs);
    await appendOne(bench.journal, envelope(id, 1, { change: { heartbeatSeconds: 10 } }), NOW_US);
    await appendOne(bench.journal, envelope(id, 2), NOW_US + 20 * SECOND_US);
    expect(await runs.expireHeartbeats(NOW_US + 45 * SECOND_US)).toBe(0);
    await appendOne(bench.journal, envelope(id, 0), NOW_US + 45 * SECOND_US);
    expect(await runs.expireHeartbeats(NOW_US + 75 * SECOND_US)).toBe(0);
    expect(await runs.expireHeartbeats(NOW_US + 76 * SECOND_US)).toBe(1);
  });

  it("U9 returns the last heartbeat of a writer, by any envelope, and the promised interval", async () => {
    const { runs } = bench;
    const id = await createRun(runs);
    expect(await getRun(runs, id)).toMatchObject({ lastHeardUs: undefined, heartbeatSeconds: undefined });
    await appendOne(bench.journal, envelope(id, 1, { change: { heartbeatSeconds: 10 } }), NOW_US);
    expect(await getRun(runs, id)).toMatchObject({ lastHeardUs: NOW_US, heartbeatSeconds: 10 });
    await appendOne(bench.journal, envelope(id, 2), NOW_US + SECOND_US);
    await appendOne(bench.journal, { ...envelope(id, 1), writer: "other" }, NOW_US + 5 * SECOND_US);
    await appendOne(bench.journal, envelope(id, 3), NOW_US + 3 * SECOND_US);
    const heard = { lastHeardUs: NOW_US + 5 * SECOND_US, heartbeatSeconds: 10 };
    expect(await getRun(runs, id)).toMatchObject(heard);
    expect(await getRuns(runs, [id], ["params"])).toMatchObject([heard]);
    // A change by a user is not a heartbeat of the job.
    expect(await runs.updateRun(id, { name: "renamed" }, NOW_US + 9 * SECOND_US)).toMatchObject(heard);
    await bench.reopen();
    expect(await getRun(bench.runs, id)).toMatchObject(heard);
    await bench.runs.updateRun(id, { heartbeatSeconds: 0 }, NOW_US + 9 * SECOND_US);
    expect(await getRun(bench.runs, id)).toMatchObject({ ...heard, heartbeatSeconds: undefined });
  });

  it("U8 counts a heartbeat of the same moment", async () => {
    const { runs } = bench;
    const id = await createRun(runs);
    await appendOne(bench.journal, envelope(id, 1, { change: { heartbeatSeconds: 1 } }), NOW_US);
    const laterUs = NOW_US + 60 * SECOND_US;
    const [[outcome], expired] = await Promise.all([
      bench.journal.append([envelope(id, 2)], laterUs),
      runs.expireHeartbeats(laterUs),
    ]);
    expect(outcome).toMatchObject({ ok: true });
    expect(expired).toBe(0);
  });

  it("U8 expires a promise that was made without an envelope", async () => {
    const { runs } = bench;
    const id = await createRun(runs);
    await runs.updateRun(id, { heartbeatSeconds: 10 }, NOW_US);
    expect(await runs.expireHeartbeats(NOW_US + 29 * SECOND_US)).toBe(0);
    expect(await runs.expireHeartbeats(NOW_US + 31 * SECOND_US)).toBe(1);
  });

  it("U8 ignores runs without a promise, ended ones and those whose promise was removed", async () => {
    const { runs } = bench;
    const silent = await createRun(runs);
    await appendOne(bench.journal, envelope(silent, 1), NOW_US);
    const ended = await createRun(runs);
    await appendOne(
      bench.journal,
      envelope(ended, 1, { change: { heartbeatSeconds: 1, status: "finished" } }),
      NOW_US,
    );
    const recalled = await createRun(runs);
    await appendOne(bench.journal, envelope(recalled, 1, { change: { heartbeatSeconds: 1 } }), NOW_US);
    await runs.updateRun(recalled, { heartbeatSeconds: 0 }, NOW_US);
    expect(await runs.expireHeartbeats(NOW_US + 1e6 * SECOND_US)).toBe(0);
    const statuses = (await getRuns(runs, [silent, ended, recalled])).map(({ status }) => status);
    expect(statuses).toEqual(["running", "finished", "running"]);
  });
}
