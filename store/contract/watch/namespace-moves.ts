import { expect, it } from "vitest";
import { ADMIN, as, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { buildCore, type CoreUnderTest } from "../core-under-test.ts";
import { numbers, refused, useStores, type OpenStores } from "../stores.ts";
import { ALL_RUNS, flat, lines, logOf, makeRun, seriesOf, touch, WatchReader, write } from "./reader.ts";

/** What watchers get when a namespace is moved with its runs. */
export function watchNamespaceMovesContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under, { waveMs: 1 });
  const move = ({ namespaceMoves }: CoreUnderTest, from: string, to: string) =>
    namespaceMoves.move(ADMIN, from, to);
  const within = (namespace: string) => ({ runs: { ...ALL_RUNS, namespace } });
  const idsOf = async (reader: WatchReader) => {
    const { runs, left } = await reader.next("runs");
    return [runs.map(({ run }) => `${run.namespace} ${run.id}`), left];
  };
  const isBehind = async (reader: WatchReader) =>
    expect(await reader.next("behind")).toMatchObject({ what: ["runs"] });
  const watch = (at: AccessUnderTest, caller: ReturnType<typeof as>, request = { runs: ALL_RUNS }) =>
    WatchReader.open(at.core, request, caller);

  it("N15 watchers of the old place and of the new one are behind, and no others", async () => {
    const [here, there] = [await core(), await core()];
    const [id, other] = [await makeRun(here, "lab/a/x"), await makeRun(here, "else")];
    for (const at of [here, there]) {
      const watchIn = (namespace: string) => WatchReader.open(at, within(namespace));
      const concerned = await Promise.all(["", "lab", "lab/a", "lab/a/x", "new/b", "new/b/x"].map(watchIn));
      const others = await Promise.all(["else", "lab/b", "new/c"].map(watchIn));
      await move(here, "lab/a", "new/b");
      for (const reader of concerned) await isBehind(reader);
      // The next that they get is what happens to a run that they see.
      await touch(here, other, "x", "1");
      for (const reader of [others[0]!, concerned[0]!]) {
        expect(await idsOf(reader)).toEqual([[`else ${other}`], []]);
      }
      await touch(here, id, "x", "1");
      for (const reader of [concerned[0]!, concerned[4]!, concerned[5]!]) {
        expect(await idsOf(reader)).toEqual([[`new/b/x ${id}`], []]);
      }
      for (const reader of [...concerned, ...others]) await reader.leave();
      await move(here, "new/b", "lab/a");
    }
  });

  it("N15 after a break a watcher is behind where it sees either place, and no one who came later", async () => {
    const at = await core();
    const [id, purged, other] = [await makeRun(at, "a"), await makeRun(at, "a"), await makeRun(at, "c")];
    const before = await WatchReader.open(at, within("a"));
    const { position } = before;
    await before.leave();
    await at.runs.delete(ADMIN, { by: "id", id: purged });
    await at.runs.purge(ADMIN, { by: "id", id: purged });
    await move(at, "a", "b");
    await touch(at, other, "x", "1");
    const late = await WatchReader.open(at, within("b"));
    // Also by a core that has forgotten, as after a restart.
    for (const one of [at, await core()]) {
      const again = await Promise.all(
        ["a", "b", "c"].map((namespace) => WatchReader.open(one, { ...within(namespace), position })),
      );
      for (const reader of again.slice(0, 2)) await isBehind(reader);
      expect(await idsOf(again[2]!)).toEqual([[`c ${other}`], []]);
      for (const reader of again) await reader.leave();
    }
    // It continues from what it was sent last: it is behind once.
    const last = await WatchReader.open(at, { ...within("b"), position });
    await isBehind(last);
    await last.leave();
    const resumed = await WatchReader.open(at, { ...within("b"), position: last.position });
    await touch(at, id, "x", "1");
    for (const reader of [resumed, late]) {
      expect(await idsOf(reader)).toEqual([[`b ${id}`], []]);
      await reader.leave();
    }
  });

  it("N15 who sees neither place is not notified, also where runs of it were changed, moved and purged", async () => {
    const at = await openAccess(bench.under, { waveMs: 1 });
    const ada = as(await at.user("ada"), "read");
    for (const namespace of ["a", "b"]) await at.bind("ada", "viewer", on(namespace));
    const [hidden, gone, shown] = [
      await makeRun(at.core, "secret/x"),
      await makeRun(at.core, "secret/x"),
      await makeRun(at.core, "a"),
    ];
    const reader = await watch(at, ada);
    await touch(at.core, hidden, "x", "1");
    await move(at.core, "secret/x", "secret/y");
    await move(at.core, "secret", "other");
    await at.runs.delete(ADMIN, { by: "id", id: gone });
    await at.runs.purge(ADMIN, { by: "id", id: gone });
    await move(at.core, "other", "secret");
    await touch(at.core, shown, "x", "1");
    const { runs, left } = await reader.next("runs");
    expect([runs.map(({ run }) => run.id), left]).toEqual([[shown], []]);
    await reader.leave();
  });

  it("N15 who sees one of the places is behind, and sees what came, and no more of what left", async () => {
    const at = await openAccess(bench.under, { waveMs: 1 });
    const ada = as(await at.user("ada"), "read");
    for (const namespace of ["a", "b"]) await at.bind("ada", "viewer", on(namespace));
    const [leaves, comes] = [await makeRun(at.core, "a/x"), await makeRun(at.core, "secret/x")];
    const reader = await watch(at, ada);
    await move(at.core, "secret/x", "b/x");
    await isBehind(reader);
    await touch(at.core, comes, "x", "1");
    expect(await idsOf(reader)).toEqual([[`b/x ${comes}`], []]);
    await move(at.core, "a/x", "secret/y");
    await isBehind(reader);
    await touch(at.core, leaves, "x", "1");
    await touch(at.core, comes, "x", "2");
    expect(await idsOf(reader)).toEqual([[`b/x ${comes}`], []]);
    await reader.leave();
  });

  it("N15 of a run that is shared alone only who it is shared with is behind", async () => {
    const at = await openAccess(bench.under, { waveMs: 1 });
    const [ada, ben] = [as(await at.user("ada"), "read"), as(await at.user("ben"), "read")];
    const [inside, outside] = [await makeRun(at.core, "secret/x"), await makeRun(at.core, "safe")];
    await at.bind("ada", "viewer", on("", inside));
    for (const name of ["ada", "ben"]) await at.bind(name, "viewer", on("", outside));
    const [seesIt, sees] = [await watch(at, ada), await watch(at, ben)];
    await move(at.core, "secret", "other");
    await isBehind(seesIt);
    await touch(at.core, inside, "x", "1");
    expect(await idsOf(seesIt)).toEqual([[`other/x ${inside}`], []]);
    await touch(at.core, outside, "x", "1");
    for (const reader of [seesIt, sees]) {
      expect(await idsOf(reader)).toEqual([[`safe ${outside}`], []]);
      await reader.leave();
    }
  });

  it("N15 a watch ends where a role or a closure of its caller went along, and shows nothing that is closed", async () => {
    const [at, there] = [
      await openAccess(bench.under, { waveMs: 1 }),
      await openAccess(bench.under, { waveMs: 1 }),
    ];
    const eve = as(await at.user("eve"), "read");
    await at.bind("eve", "viewer", on(""));
    const id = await makeRun(at.core, "a/closed");
    await at.close(on("a/closed"));
    await there.follower.catchUp();
    for (const one of [at, there]) {
      const reader = await watch(one, eve);
      const [from, to] = one === at ? ["a", "b"] : ["b", "a"];
      await move(at.core, from, to);
      await touch(at.core, id, "x", "1");
      await expect(reader.any()).rejects.toEqual(refused("aborted", "ACCESS_CHANGED"));
    }
  });

  it("N15 a watch of points and lines continues where the caller may read them, and ends elsewhere", async () => {
    const at = await openAccess(bench.under, { waveMs: 1 });
    const there = await openAccess(bench.under, { waveMs: 1 });
    const ada = as(await at.user("ada"), "read");
    for (const namespace of ["a", "b"]) await at.bind("ada", "viewer", on(namespace));
    await there.follower.catchUp();
    const id = await makeRun(at.core, "a/x");
    const readers = await Promise.all([
      WatchReader.open(at.core, { series: [seriesOf(id)] }, ada),
      WatchReader.open(there.core, { logs: [logOf(id, 0)] }, ada),
    ]);
    await move(at.core, "a/x", "b/y");
    await write(at.core, id, { series: [numbers("loss", [1])], log: lines("said") });
    expect(flat((await readers[0].next("points")).series).map(({ value }) => value)).toEqual([1]);
    expect(await readers[1].next("lines")).toMatchObject({ lines: [{ text: "said" }] });
    await move(at.core, "b/y", "secret/y");
    for (const reader of readers) {
      await expect(reader.any()).rejects.toEqual(refused("aborted", "ACCESS_CHANGED"));
    }
    await write(at.core, id, { series: [numbers("loss", [2], 1)] });
    const again = WatchReader.open(there.core, { series: [seriesOf(id)] }, ada);
    await expect(again).rejects.toEqual(refused("not-found"));
  });

  it("N16 watchers are behind when a namespace that they see goes into the trash or out of it, and no others", async () => {
    const at = await openAccess(bench.under, { waveMs: 1 });
    const [ada, ben] = [as(await at.user("ada"), "read"), as(await at.user("ben"), "read")];
    const [inside, outside] = [await makeRun(at.core, "secret/x"), await makeRun(at.core, "safe")];
    await at.bind("ada", "viewer", on("", inside));
    for (const name of ["ada", "ben"]) await at.bind(name, "viewer", on("", outside));
    const [whole, seesIt, sees] = [await watch(at, ADMIN), await watch(at, ada), await watch(at, ben)];
    for (const act of ["delete", "restore"] as const) {
      await at.core.namespaceTrash[act](ADMIN, "secret");
      for (const reader of [whole, seesIt]) await isBehind(reader);
      await touch(at.core, outside, "x", act);
      for (const reader of [whole, seesIt, sees]) {
        expect(await idsOf(reader)).toEqual([[`safe ${outside}`], []]);
      }
    }
    for (const reader of [whole, seesIt, sees]) await reader.leave();
  });
}
