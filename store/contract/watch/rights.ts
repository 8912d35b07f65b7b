import { expect, it } from "vitest";
import type { Caller } from "#core/access/caller.ts";
import type { ReadMask } from "#core/types/scope.ts";
import { CairnError } from "#lang/errors.ts";
import type { WatchEvent } from "#core/watch/event.ts";
import { Watches } from "#core/watch/watches.ts";
import { buildCore, CALLER } from "../core-under-test.ts";
import { ListSearch } from "../list-search.ts";
import { callerWithout } from "../masked-caller.ts";
import {
  lines,
  logOf,
  makeRun,
  READER,
  seriesOf,
  touch,
  ALL_RUNS,
  watchRequest,
  WatchReader,
  write,
} from "./reader.ts";
import { numbers, refused, useStores, type OpenStores } from "../stores.ts";

/** A caller whose rights can be changed during a watch. */
function someone(): Caller & { hide(...runs: string[]): void; revoke(): void; version: number } {
  let now: Caller = callerWithout({}, "read");
  let revoked = false;
  const caller = {
    ...now,
    version: 0,
    hide: (...runs: string[]) => (now = callerWithout({ runs }, "read")),
    revoke: () => (revoked = true),
    rights: {
      may: (...question: Parameters<Caller["rights"]["may"]>) => now.rights.may(...question),
      mayAnywhere: () => {
        if (!revoked) return true;
        throw new CairnError("unauthenticated", "cannot continue", { reason: "CREDENTIAL_ENDED" });
      },
      hiddenArtifacts: () => now.rights.hiddenArtifacts(),
      readable: (): ReadMask => {
        const mask = now.rights.readable()!;
        return { ...mask, id: `${mask.id} ${caller.version}` };
      },
    },
  };
  return caller;
}

export function watchRightsContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under, { waveMs: 1 });

  it("H7 things that the caller may not read are not even named", async () => {
    const built = await core();
    const [seen, closed, foreign] = [
      await makeRun(built),
      await makeRun(built),
      await makeRun(built, "secret/a"),
    ];
    const eve = callerWithout({ runs: [closed], namespaces: ["secret"] }, "read");
    const reader = await WatchReader.open(built, { runs: { ...ALL_RUNS, query: 'tags.x = "1"' } }, eve);
    for (const id of [closed, foreign, seen]) await touch(built, id, "x", "2");
    expect(await reader.next("runs")).toMatchObject({ runs: [], left: [seen] });
    for (const id of [closed, foreign]) {
      await touch(built, id, "x", "1");
      await write(built, id, { series: [numbers("loss", [1])], log: lines("said") });
      await built.runs.delete(CALLER, { by: "id", id });
      await built.runs.purge(CALLER, { by: "id", id });
    }
    await touch(built, seen, "x", "1");
    const { runs, left } = await reader.next("runs");
    expect([runs.map(({ run }) => run.id), left]).toEqual([[seen], []]);
    await reader.leave();
  });

  it("H12 neither positions nor keep-alives reveal how much happens that the caller may not read", async () => {
    const built = await core();
    const hidden = await makeRun(built);
    const eve = callerWithout({ runs: [hidden] }, "read");
    const { runs, changes, clock, follower } = built;
    const { runs: store, logs, feed } = bench.under;
    const parts = { store, search: new ListSearch(feed), logs, runs, changes, clock, follower };
    const watches = new Watches({ ...parts, stillMs: 50 });
    const stop = new AbortController();
    const events = watches.watch(eve, watchRequest({ runs: ALL_RUNS }), stop.signal);
    const texts = [((await events.next()).value as WatchEvent).position];
    const enough = new AbortController();
    const busy = (async () => {
      for (let i = 0; !enough.signal.aborted; i++) await touch(built, hidden, "x", String(i));
    })();
    for (let i = 0; i < 3; i++) {
      const { kind, position } = (await events.next()).value as WatchEvent;
      expect(kind).toBe("still");
      texts.push(position);
    }
    enough.abort();
    await busy;
    texts.push(((await events.next()).value as WatchEvent).position);
    const [, ...sealed] = texts.map((text) => text.split(".")[1]!);
    expect(new Set(sealed).size).toBe(sealed.length);
    expect(new Set(sealed.map(({ length }) => length)).size).toBe(1);
    for (const text of texts) expect(text.split(".")).toHaveLength(2);
    stop.abort();
    await events.return(undefined).catch(() => undefined);
  });

  it("H7 series and logs of a hidden run are not found", async () => {
    const built = await core();
    const hidden = await makeRun(built);
    const eve = callerWithout({ runs: [hidden] }, "read");
    for (const request of [{ series: [seriesOf(hidden)] }, { logs: [logOf(hidden)] }]) {
      await expect(new WatchReader(built, request, eve).any()).rejects.toEqual(refused("not-found"));
    }
  });

  it("H7 a run that was purged while a client was disconnected is not named, since it may have been closed to it", async () => {
    const built = await core();
    const [kept, gone] = [await makeRun(built), await makeRun(built)];
    const caller = callerWithout({}, "read");
    const all = { runs: ALL_RUNS };
    const [masked, owner, staying] = [
      await WatchReader.open(built, all, caller),
      await WatchReader.open(built, all),
      await WatchReader.open(built, all, caller),
    ];
    await masked.leave();
    await owner.leave();
    await built.runs.delete(CALLER, { by: "id", id: gone });
    expect(await staying.next("runs")).toMatchObject({ left: [gone] });
    await built.runs.purge(CALLER, { by: "id", id: gone });
    expect(await staying.next("runs")).toMatchObject({ left: [gone] });
    await staying.leave();
    const again = await WatchReader.open(built, { ...all, position: masked.position }, caller);
    expect(await again.next("behind")).toMatchObject({ what: ["runs"] });
    await touch(built, kept, "x", "1");
    expect(await again.next("runs")).toMatchObject({ runs: [{ run: { id: kept } }], left: [] });
    await again.leave();
    const ownerAgain = await WatchReader.open(built, { ...all, position: owner.position });
    const { runs, left } = await ownerAgain.next("runs");
    expect([runs.map(({ run }) => run.id), left]).toEqual([[kept], [gone]]);
    await ownerAgain.leave();
  });

  it("H7 changed rights end the stream at once, and the client resumes with the new ones", async () => {
    const built = await core();
    const [a, b] = [await makeRun(built), await makeRun(built)];
    const eve = someone();
    const reader = await WatchReader.open(built, { runs: ALL_RUNS }, eve);
    const ended = expect(reader.any()).rejects.toEqual(refused("aborted", "ACCESS_CHANGED"));
    eve.hide(a);
    built.changes.notifyAll();
    await ended;
    await touch(built, a, "x", "1");
    await touch(built, b, "x", "1");
    const again = await WatchReader.open(built, { runs: ALL_RUNS, position: reader.position }, eve);
    expect((await again.next("runs")).runs).toMatchObject([{ run: { id: b } }]);
    await again.leave();
  });

  it("H7 a change of access that changes nothing for the caller does not end its stream", async () => {
    const built = await core();
    const id = await makeRun(built);
    const eve = someone();
    const reader = await WatchReader.open(built, { runs: ALL_RUNS }, eve);
    eve.version++;
    built.changes.notifyAll();
    await touch(built, id, "x", "1");
    expect((await reader.next("runs")).runs).toMatchObject([{ run: { id } }]);
    await reader.leave();
  });

  it("H7 the end of a credential ends the stream, also an idle one", async () => {
    const built = await core();
    const id = await makeRun(built);
    const eve = someone();
    const readers = [
      await WatchReader.open(built, { runs: ALL_RUNS }, eve),
      await WatchReader.open(built, { series: [seriesOf(id)] }, eve),
    ];
    const ended = readers.map((reader) =>
      expect(reader.any()).rejects.toEqual(refused("unauthenticated", "CREDENTIAL_ENDED")),
    );
    const other = await WatchReader.open(built, { runs: ALL_RUNS }, READER);
    eve.revoke();
    built.changes.notifyAll();
    await Promise.all(ended);
    await touch(built, id, "x", "1");
    expect((await other.next("runs")).runs).toMatchObject([{ run: { id } }]);
    await other.leave();
    expect(built.watches.counts.watchers).toBe(0);
  });

  it("H7 nothing is sent that was read before the rights ended", async () => {
    const built = await core();
    const id = await makeRun(built);
    const eve = someone();
    const reader = await WatchReader.open(built, { series: [seriesOf(id)], logs: [logOf(id, 0)] }, eve);
    await write(built, id, { series: [numbers("loss", [1])], log: lines("said") });
    await built.changes.catchUp();
    await reader.next("points");
    // The lines of the same round are next.
    eve.hide(id);
    await expect(reader.any()).rejects.toEqual(refused("aborted", "ACCESS_CHANGED"));
  });
}
