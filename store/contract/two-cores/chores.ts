import fc from "fast-check";
import { expect, it } from "vitest";
import { openMemoryBlobStore } from "#blob/memory/memory-blob-store.ts";
import { Chores, type Chore } from "#core/chores/chores.ts";
import { choreList } from "#core/chores/list.ts";
import type { Leases } from "#core/ports/leases.ts";
import { buildCore } from "../core-under-test.ts";
import { NOW_US, useStores, type OpenStores } from "../stores.ts";

const SECOND_US = 1_000_000;
const DAY_US = 86_400 * SECOND_US;
const EVERY_S = 10;
/** Longer than a lease lasts without being renewed. */
const LEASE_S = 31;

export function twoCoresChoresContract(open: OpenStores, schedules: number): void {
  const bench = useStores(open);
  const clock = { us: NOW_US, nowUs: () => clock.us };
  /** How far the clock differs from the steady time since it was set. */
  let setUs = 0;
  const steadyMs = () => (clock.us - setUs) / 1000;
  const failures: string[] = [];
  const core = (...chores: Chore[]) =>
    new Chores({
      leases: bench.under.leases,
      clock,
      steadyMs,
      chores,
      onFailure: (name) => failures.push(name),
    });
  /** Every test has leases of its own. */
  let names = 0;
  const chore = (run: () => Promise<unknown>, everyMs = EVERY_S * 1000): Chore => ({
    name: `chore ${names}`,
    everyMs,
    run,
  });
  const fresh = () => {
    names++;
    failures.length = 0;
  };

  it("J11 each chore is done once per interval, with any timing of the cores", async () => {
    const schedule = fc.array(
      fc.record({ waitS: fc.nat(4), cores: fc.subarray([0, 1, 2], { minLength: 1 }) }),
      { minLength: 5, maxLength: 40 },
    );
    const property = fc.asyncProperty(schedule, async (steps) => {
      fresh();
      const began: number[] = [];
      const cores = [0, 1, 2].map(() => core(chore(async () => began.push(clock.us))));
      for (const { waitS, cores: looking } of steps) {
        clock.us += waitS * SECOND_US;
        await Promise.all(looking.map((i) => cores[i]!.tick()));
      }
      const gaps = began.slice(1).map((us, i) => us - began[i]!);
      for (const us of gaps) expect(us).toBeGreaterThanOrEqual(EVERY_S * SECOND_US);
      expect(began.length).toBeGreaterThan(0);
      // All check at the end: a due chore is done by one of them.
      clock.us = Math.max(clock.us, began.at(-1)! + EVERY_S * SECOND_US);
      const before = began.length;
      await Promise.all(cores.map((one) => one.tick()));
      expect(began.length).toBe(before + 1);
    });
    await fc.assert(property, { numRuns: schedules });
  });

  it("J11 continues while a clock that was set back is stopped, and once per interval after it was set forward", async () => {
    fresh();
    let done = 0;
    const one = core(chore(async () => done++));
    await one.tick();
    const set = (byS: number) => {
      clock.us += byS * SECOND_US;
      setUs += byS * SECOND_US;
    };
    for (let s = 0; s < 2 * EVERY_S; s++) {
      // Time passes, and the clock does not advance.
      clock.us += SECOND_US;
      set(-1);
      await one.tick();
    }
    expect(done).toBe(3);
    set(100 * EVERY_S);
    await one.tick();
    expect(done).toBe(3);
    clock.us += EVERY_S * SECOND_US;
    await one.tick();
    expect(done).toBe(4);
  });

  it("J11 a chore is begun by another core when it is due, though the one that did it last looks no more", async () => {
    fresh();
    let done = 0;
    const [here, there] = [core(chore(async () => done++)), core(chore(async () => done++))];
    await here.tick();
    await there.tick();
    clock.us += (EVERY_S - 1) * SECOND_US;
    await there.tick();
    expect(done).toBe(1);
    clock.us += SECOND_US;
    await there.tick();
    expect(done).toBe(2);
  });

  it("J11 a chore that takes longer than its interval is not begun by another core meanwhile", async () => {
    fresh();
    const gate = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    let count = 0;
    const slow = chore(async () => {
      began.resolve();
      if (++count === 1) await gate.promise;
    });
    const [here, there] = [core(slow), core(slow)];
    const working = here.tick();
    await began.promise;
    for (let s = 0; s < 2 * LEASE_S; s += EVERY_S) {
      clock.us += EVERY_S * SECOND_US;
      await here.tick();
      await there.tick();
    }
    expect(count).toBe(1);
    gate.resolve();
    await working;
    await there.tick();
    expect(count).toBe(1);
  });

  it("J12 a core that dies during a chore is replaced when its lease has ended", async () => {
    fresh();
    const began = Promise.withResolvers<void>();
    const dead = core(
      chore(() => {
        began.resolve();
        return new Promise(() => undefined);
      }),
    );
    void dead.tick();
    await began.promise;
    let done = 0;
    const heir = core(chore(async () => done++));
    await heir.tick();
    clock.us += 5 * SECOND_US;
    await heir.tick();
    expect(done).toBe(0);
    clock.us += LEASE_S * SECOND_US;
    await heir.tick();
    expect(done).toBe(1);
  });

  it("J13 a chore that fails is reported, retried by any core, and delays no other", async () => {
    fresh();
    let broken = true;
    let done = 0;
    const failing: Chore = {
      name: `failing ${names}`,
      everyMs: 86_400_000,
      run: () => (broken ? Promise.reject(new Error("broken")) : Promise.resolve()),
    };
    const other = chore(async () => done++);
    const [here, there] = [core(failing, other), core(failing, other)];
    await here.tick();
    expect(failures).toEqual([failing.name]);
    expect(done).toBe(1);
    await there.tick();
    expect(failures).toHaveLength(1);
    clock.us += 60 * SECOND_US;
    await there.tick();
    expect(failures).toHaveLength(2);
    broken = false;
    clock.us += 60 * SECOND_US;
    await Promise.all([here.tick(), there.tick()]);
    expect(failures).toHaveLength(2);
  });

  it("J14 a core that stops begins no more chores and waits for running ones", async () => {
    fresh();
    const gate = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    let done = 0;
    const one = core(
      chore(async () => {
        began.resolve();
        await gate.promise;
        done++;
      }),
    );
    void one.tick();
    await began.promise;
    const stopping = one.stop().then(() => done);
    gate.resolve();
    expect(await stopping).toBe(1);
    clock.us += 2 * EVERY_S * SECOND_US;
    await one.tick();
    expect(done).toBe(1);
  });

  it("J11 J14 two cores do each of all chores once, and the other one does them when one is closed", async () => {
    fresh();
    const { leases, uploadLedger } = bench.under;
    const begun: string[] = [];
    const noted: Leases = {
      acquireLease: async (...lease) => {
        const acquired = await leases.acquireLease(...lease);
        if (acquired.acquired) begun.push(lease[0]);
        return acquired;
      },
      renewLease: (...lease) => leases.renewLease(...lease),
    };
    const options = {
      blobs: openMemoryBlobStore(),
      clock,
      steadyMs,
      onChoreFailure: (name: string) => failures.push(name),
    };
    const build = () => buildCore({ ...bench.under, leases: noted }, options);
    const [here, there] = [await build(), await build()];
    const all = choreList(here).map(({ name }) => name);
    const upload = { id: "0".repeat(64), turn: "given up", core: "one", again: false, begins: true };
    await uploadLedger.takeUpload({ ...upload, nowUs: clock.us, untilUs: clock.us + 1 });
    for (let day = 1; day <= 3; day++) {
      clock.us += 2 * DAY_US;
      await Promise.all([here, there].map(({ chores }) => chores.tick()));
      expect(begun.toSorted()).toEqual(all.toSorted());
      begun.length = 0;
    }
    expect(await uploadLedger.findUploads([upload.id])).toEqual([]);
    await here.close();
    clock.us += 2 * DAY_US;
    await here.chores.tick();
    expect(begun).toEqual([]);
    await there.chores.tick();
    expect(begun.toSorted()).toEqual(all.toSorted());
    expect(failures).toEqual([]);
    await there.close();
  });

  it("J11 a chore that must wait at first waits from the start of the chores on", async () => {
    fresh();
    let done = 0;
    const waiting = { ...chore(async () => done++), firstAfterMs: EVERY_S * 1000 };
    const [stopped, one] = [core(waiting), core(waiting)];
    // As a server that takes long until it can be reached.
    clock.us += EVERY_S * SECOND_US;
    stopped.start();
    await stopped.stop();
    expect(done).toBe(0);
    one.start();
    clock.us += EVERY_S * SECOND_US;
    await one.tick();
    expect(done).toBe(1);
    await one.stop();
  });
}
