import { expect, it } from "vitest";
import { openAccess, on, ADMIN, as, type AccessUnderTest } from "../access-under-test.ts";
import { buildCore, CALLER, type CoreUnderTest } from "../core-under-test.ts";
import { numbers, refused, useStores, type OpenStores } from "../stores.ts";
import { ALL_RUNS, flat, lines, logOf, makeRun, seriesOf, touch, WatchReader, write } from "./reader.ts";

/** What watchers of the old place, of the new one and of the run itself get when it is moved. */
export function watchMovesContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under, { waveMs: 1 });
  const move = ({ runMoves }: CoreUnderTest, id: string, namespace: string) =>
    runMoves.move(CALLER, { by: "id", id }, namespace);
  const within = (namespace: string) => ({ runs: { ...ALL_RUNS, namespace } });
  const idsOf = async (reader: WatchReader) => {
    const { runs, left } = await reader.next("runs");
    return [runs.map(({ run }) => `${run.namespace} ${run.id}`), left];
  };

  it("U16 a watcher of the old place sees the run leave, one of the new place sees it come", async () => {
    const [here, there] = [await core(), await core()];
    const [id, other] = [await makeRun(here, "lab/a"), await makeRun(here, "lab/a")];
    for (const at of [here, there]) {
      const [old, fresh, both, neither] = await Promise.all(
        ["lab/a", "lab/b", "lab", "labs"].map((namespace) => WatchReader.open(at, within(namespace))),
      );
      await move(here, id, "lab/b");
      expect(await idsOf(old!)).toEqual([[], [id]]);
      expect(await idsOf(fresh!)).toEqual([[`lab/b ${id}`], []]);
      expect(await idsOf(both!)).toEqual([[`lab/b ${id}`], []]);
      // Runs outside of their namespaces are not sent, nor are later changes of them.
      await touch(here, id, "x", "1");
      await touch(here, other, "x", "2");
      expect(await idsOf(old!)).toEqual([[`lab/a ${other}`], []]);
      await move(here, other, "labs");
      expect(await idsOf(neither!)).toEqual([[`labs ${other}`], []]);
      for (const reader of [old, fresh, both, neither]) await reader!.leave();
      for (const one of [id, other]) await move(here, one, "lab/a");
    }
  });

  it("U23 after a disconnect a watcher catches up on a run that passed through its namespace, or left it", async () => {
    const at = await core();
    const [id, through, purged] = [await makeRun(at, "a"), await makeRun(at, "z"), await makeRun(at, "a")];
    const reader = await WatchReader.open(at, within("a"));
    await reader.leave();
    await move(at, id, "b");
    await move(at, through, "a");
    await move(at, through, "c");
    await move(at, purged, "b");
    await at.runs.delete(CALLER, { by: "id", id: purged });
    await at.runs.purge(CALLER, { by: "id", id: purged });
    // Also by a core that has forgotten, as after a restart.
    for (const one of [at, await core()]) {
      const again = await WatchReader.open(one, { ...within("a"), position: reader.position });
      const [runs, left] = await idsOf(again);
      expect([runs, new Set(left)]).toEqual([[], new Set([id, through, purged])]);
      await again.leave();
    }
  });

  it("U16 a watcher that began after the run had left is not notified of its changes", async () => {
    const at = await core();
    const [id, other] = [await makeRun(at, "a"), await makeRun(at, "a")];
    const early = await WatchReader.open(at, within("a"));
    await move(at, id, "b");
    const late = await WatchReader.open(at, within("a"));
    await touch(at, id, "x", "1");
    await touch(at, other, "x", "1");
    await at.changes.catchUp();
    // In one wave, in which both share one answer.
    const [first, second] = await Promise.all([idsOf(early), idsOf(late)]);
    expect(first).toEqual([[`a ${other}`], [id]]);
    expect(second).toEqual([[`a ${other}`], []]);
    for (const reader of [early, late]) await reader.leave();
  });

  async function ada(at: AccessUnderTest) {
    const identity = await at.user("ada");
    for (const namespace of ["a", "b"]) await at.bind("ada", "viewer", on(namespace));
    return as(identity, "read");
  }

  it("U16, U24: a watcher that may read neither place is not notified, and one that reads the old one only of the leaving", async () => {
    const at = await openAccess(bench.under, { waveMs: 1 });
    const caller = await ada(at);
    const [hidden, leaves, comes, shown] = [
      await makeRun(at.core, "secret/x"),
      await makeRun(at.core, "a"),
      await makeRun(at.core, "secret/x"),
      await makeRun(at.core, "a"),
    ];
    const reader = await WatchReader.open(at.core, { runs: ALL_RUNS }, caller);
    await move(at.core, hidden, "secret/y");
    await move(at.core, leaves, "secret/y");
    await move(at.core, comes, "b");
    await touch(at.core, shown, "x", "1");
    const [runs, left]: string[][] = [[], []];
    while (runs!.length < 2) {
      const event = await reader.next("runs");
      runs!.push(...event.runs.map(({ run }) => run.id));
      left!.push(...event.left);
    }
    expect([runs!.toSorted(), left]).toEqual([[comes, shown].toSorted(), [leaves]]);
    await reader.leave();
  });

  it("U25 after a break a watcher is not sent the id of a run that was closed to it where it has left", async () => {
    const at = await openAccess(bench.under, { waveMs: 1 });
    const caller = await ada(at);
    const [id, other] = [await makeRun(at.core, "a"), await makeRun(at.core, "a")];
    await at.close(on("a", id));
    const reader = await WatchReader.open(at.core, { runs: ALL_RUNS }, caller);
    await reader.leave();
    await move(at.core, id, "secret");
    await at.access.setClosed(ADMIN, { scope: on("secret", id), closed: false });
    await touch(at.core, other, "x", "1");
    const again = await WatchReader.open(at.core, { runs: ALL_RUNS, position: reader.position }, caller);
    expect(await again.next("behind")).toMatchObject({ what: ["runs"] });
    await move(at.core, other, "secret");
    expect(await idsOf(again)).toEqual([[], [other]]);
    await again.leave();
  });

  it("U26 a watch sends no lines of a run that is moved out of sight while they are read", async () => {
    const { logs } = bench.under;
    let next: (() => Promise<unknown>) | undefined;
    const overtaken = new Proxy(logs, {
      get:
        (store, name) =>
        async (...args: unknown[]) => {
          const overtake = name === "readLog" ? next : undefined;
          if (overtake !== undefined) next = undefined;
          await overtake?.();
          return Reflect.get(store, name).apply(store, args);
        },
    });
    // What happens while the lines are read is not known until the next wave.
    const at = await openAccess({ ...bench.under, logs: overtaken }, { waveMs: 1_000 });
    const caller = await ada(at);
    const id = await makeRun(at.core, "a");
    const reader = await WatchReader.open(at.core, { logs: [logOf(id, 0)] }, caller);
    next = async () => {
      await move(at.core, id, "secret");
      await write(at.core, id, { log: lines("secret") });
    };
    const ended = expect(reader.any()).rejects.toEqual(refused("aborted", "ACCESS_CHANGED"));
    await write(at.core, id, { log: lines("said") });
    await ended;
  });

  it("U26 a watch of points ends also if there were so many changes that the move is forgotten", async () => {
    const at = await openAccess(bench.under, { waveMs: 1, runsMax: 1 });
    const caller = await ada(at);
    const [id, stays, other] = [
      await makeRun(at.core, "a"),
      await makeRun(at.core, "a"),
      await makeRun(at.core),
    ];
    const watch = (run: string) => WatchReader.open(at.core, { series: [seriesOf(run)] }, caller);
    const [ends, goesOn] = [await watch(id), await watch(stays)];
    await move(at.core, id, "secret");
    await touch(at.core, other, "x", "1");
    await at.core.changes.catchUp();
    expect(at.core.changes.size).toBe(1);
    await expect(ends.any()).rejects.toEqual(refused("aborted", "ACCESS_CHANGED"));
    await write(at.core, stays, { series: [numbers("loss", [1])] });
    expect(flat((await goesOn.next("points")).series).map(({ value }) => value)).toEqual([1]);
    await goesOn.leave();
  });

  it("U26 a watch of points and lines continues where the caller may read them, and ends elsewhere", async () => {
    const at = await openAccess(bench.under, { waveMs: 1 });
    const there = await openAccess(bench.under, { waveMs: 1 });
    const caller = await ada(at);
    const id = await makeRun(at.core, "a");
    const readers = await Promise.all([
      WatchReader.open(at.core, { series: [seriesOf(id)] }, caller),
      WatchReader.open(there.core, { logs: [logOf(id, 0)] }, caller),
    ]);
    await move(at.core, id, "b");
    await write(at.core, id, { series: [numbers("loss", [1])], log: lines("said") });
    expect(flat((await readers[0].next("points")).series).map(({ value }) => value)).toEqual([1]);
    expect(await readers[1].next("lines")).toMatchObject({ lines: [{ text: "said" }] });
    await move(at.core, id, "secret");
    for (const reader of readers) {
      await expect(reader.any()).rejects.toEqual(refused("aborted", "ACCESS_CHANGED"));
    }
    await write(at.core, id, { series: [numbers("loss", [2], 1)] });
    const again = WatchReader.open(there.core, { series: [seriesOf(id)] }, caller);
    await expect(again).rejects.toEqual(refused("not-found"));
    // A watch of a shared run continues everywhere.
    await at.access.bindRole(ADMIN, { principal: "ada", role: "viewer", scope: on("", id) });
    const shared = await WatchReader.open(at.core, { series: [seriesOf(id)] }, caller);
    await move(at.core, id, "secret/deeper");
    await write(at.core, id, { series: [numbers("loss", [3], 2)] });
    expect(flat((await shared.next("points")).series).map(({ value }) => value)).toEqual([3]);
    await shared.leave();
  });
}
