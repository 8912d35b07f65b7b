import fc from "fast-check";
import { expect, it } from "vitest";
import { bytesOf, digestOf, listed, streamOf } from "../blob-under-test.ts";
import { AUDIT, createRun, refused, type OpenStores } from "../stores.ts";
import {
  byId,
  head,
  MAINTAINER,
  pauseBy,
  pauses,
  useTwoCores,
  WRITER,
  type OpenSharedBlobs,
} from "./bench.ts";

const HOUR_US = 3_600_000_000;
/** How many a sweep marks and destroys at once, and the number of blobs. */
const AT_ONCE = 100;
const UNUSED = 150;
const NAMES = ["a", "b", "c"];

export function twoCoresBlobsContract(open: OpenStores, openBlobs: OpenSharedBlobs, schedules: number): void {
  const two = useTwoCores(open, openBlobs);
  const put = (core: number, run: string, name: string, content: string) =>
    two.cores[core]!.uploads.put(WRITER, byId(run), head(name), streamOf(content));
  /** With the versions that are kept of it. */
  const remove = async (core: number, run: string, name: string) => {
    const { [core]: artifacts } = two.cores;
    await artifacts!.delete(WRITER, { run: byId(run), name, step: undefined }).catch(() => undefined);
    await artifacts!.replaced.purge(MAINTAINER, { run: byId(run), name });
  };
  const read = async (core: number, run: string, name: string) =>
    (
      await bytesOf(
        (
          await two.cores[core]!.open(
            { ...WRITER, permission: "read" },
            { run: byId(run), name, step: undefined },
          )
        ).body,
      )
    ).toString();
  const find = (run: string, name: string) => two.stores.under.artifacts.findArtifact(run, name, undefined);
  /** At any moment, an existing artifact has its content. */
  const checkContent = async (run: string, name: string) => {
    const found = await find(run, name);
    if (found === undefined || (await two.blobs.find(found.sha256!)) !== undefined) return;
    // It may have been deleted between the two reads.
    expect(await find(run, name)).not.toEqual(found);
  };
  const digests = async () => (await listed(two.blobs)).map(({ digest }) => digest);

  it("F4 F16 no core destroys a blob that another is attaching, and nothing is left over, in any order of steps", async () => {
    const action = fc.record({
      core: fc.nat(1),
      do: fc.constantFrom("put", "put", "put", "delete", "delete", "collect", "sweep"),
      name: fc.constantFrom(...NAMES),
      content: fc.constantFrom("x", "y"),
    });
    const actors = fc.array(fc.array(action, { minLength: 5, maxLength: 10 }), {
      minLength: 3,
      maxLength: 5,
    });
    const property = fc.asyncProperty(actors, pauses, async (plans, numbers) => {
      two.pause = pauseBy(two, numbers);
      // Old enough to be swept from the first moment on.
      two.clock.us += 3 * HOUR_US;
      const run = await createRun(two.stores.runs);
      await Promise.all(
        plans.map(async (actions) => {
          for (const { core, do: what, name, content } of actions) {
            // So that no two artifacts are equal.
            two.clock.us++;
            if (what === "put") await put(core, run, name, content);
            else if (what === "delete") await remove(core, run, name);
            else if (what === "collect") await two.cores[core]!.sweep.collect();
            else await two.cores[core]!.sweep.sweepOrphans();
            await checkContent(run, name);
          }
        }),
      );
      const used = new Set<string>();
      for (const name of NAMES) {
        const found = await find(run, name);
        if (found === undefined) continue;
        for (const core of [0, 1]) expect(digestOf(await read(core, run, name))).toBe(found.sha256);
        used.add(found.sha256!);
      }
      await two.cores[0].replaced.purge(MAINTAINER, { run: byId(run), name: "" });
      await two.cores[1].sweep.collect();
      expect(await digests()).toEqual([...used].toSorted());
      for (const name of NAMES) await remove(1, run, name);
      expect(await digests()).toEqual([]);
    });
    await fc.assert(property, { numRuns: schedules });
  });

  /** From now on every deletion waits until it is released; the first has `begun`. Other paused steps continue. */
  const holdDeletions = () => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = { begun: begun.promise, goOn: gate.resolve, deletions: 0 };
    two.beforeDelete = () => {
      held.deletions++;
      begun.resolve();
      return gate.promise;
    };
    return held;
  };
  /** Long enough for several retries of a waiting call. */
  const letOthersAsk = async () => {
    for (let i = 0; i < 100; i++) await two.stores.under.blobLedger.listUnusedBlobs(1);
  };

  it("F4 F16 a core stores a blob that another is destroying only after that", async () => {
    const run = await createRun(two.stores.runs);
    await put(0, run, "a", "again");
    await two.stores.runs.setDeleted(run, two.clock.us, AUDIT);
    await two.stores.runs.purgeRun(run, AUDIT);
    const { begun, goOn } = holdDeletions();
    const collecting = two.cores[1].sweep.collect();
    await begun;
    const other = await createRun(two.stores.runs);
    let isStored = false;
    const storing = put(0, other, "a", "again").then(() => (isStored = true));
    await letOthersAsk();
    const early = isStored;
    goOn();
    await Promise.all([collecting, storing]);
    expect(early).toBe(false);
    expect(await read(1, other, "a")).toBe("again");
  });

  it("F4 F16 no core destroys a blob that another is destroying: it may be stored again by then", async () => {
    const run = await createRun(two.stores.runs);
    await put(0, run, "a", "again");
    await two.stores.runs.setDeleted(run, two.clock.us, AUDIT);
    await two.stores.runs.purgeRun(run, AUDIT);
    two.clock.us += 2 * HOUR_US;
    const held = holdDeletions();
    const collecting = [two.cores[1].sweep.collect()];
    await held.begun;
    collecting.push(two.cores[0].sweep.collect());
    const sweeping = two.cores[0].sweep.sweepOrphans();
    await letOthersAsk();
    const { deletions } = held;
    held.goOn();
    await Promise.all([...collecting, sweeping]);
    expect(deletions).toBe(1);
  });

  it("F4 F16 content whose run is purged before it is attached is destroyed at once, unless another core has attached it", async () => {
    for (const isShared of [false, true]) {
      const [run, other] = [await createRun(two.stores.runs), await createRun(two.stores.runs)];
      if (isShared) await put(1, other, "a", "needed");
      let steps = 0;
      two.pause = async () => {
        // Before and after it is pinned, and when it has its name.
        if (++steps !== 3) return;
        await two.stores.runs.setDeleted(run, two.clock.us, AUDIT);
        await two.stores.runs.purgeRun(run, AUDIT);
      };
      await expect(put(0, run, "a", "needed")).rejects.toEqual(refused("not-found"));
      two.pause = () => Promise.resolve();
      expect(await digests()).toEqual(isShared ? [digestOf("needed")] : []);
      if (isShared) expect(await read(0, other, "a")).toBe("needed");
    }
  });

  it("F15 F16 no core destroys a blob that another copies into a backup", async () => {
    const run = await createRun(two.stores.runs);
    await put(0, run, "a", "needed");
    await two.cores[0].content.kept(async () => {
      await remove(1, run, "a");
      two.clock.us += 2 * HOUR_US;
      await two.cores[1].sweep.collect();
      await two.cores[1].sweep.sweepOrphans();
      expect(await digests()).toEqual([digestOf("needed")]);
    });
    await two.cores[1].sweep.collect();
    expect(await digests()).toEqual([]);
  });

  it("F15 F16 a backup waits for blobs being destroyed at its start, and for no others", async () => {
    const run = await createRun(two.stores.runs);
    await Promise.all(Array.from({ length: UNUSED }, (_, i) => put(0, run, `f${i}`, `content ${i}`)));
    await two.stores.runs.setDeleted(run, two.clock.us, AUDIT);
    await two.stores.runs.purgeRun(run, AUDIT);
    const { begun, goOn } = holdDeletions();
    const collecting = two.cores[1].sweep.collect();
    await begun;
    let begins = false;
    const left = two.cores[0].content.kept(async () => {
      begins = true;
      return (await digests()).length;
    });
    await letOthersAsk();
    const early = begins;
    goOn();
    expect(early).toBe(false);
    expect(await left).toBe(UNUSED - AT_ONCE);
    await collecting;
    await two.cores[1].sweep.collect();
    expect(await digests()).toEqual([]);
  });
}
