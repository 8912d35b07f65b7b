import fc from "fast-check";
import { beforeEach, expect, it } from "vitest";
import type { Identity } from "#core/access/caller.ts";
import { Follower } from "#core/journal/follower.ts";
import { CairnError } from "#lang/errors.ts";
import { ADMIN, as, here, on, openAccess, VISITOR, type AccessUnderTest } from "../access-under-test.ts";
import { asked } from "../core-under-test.ts";
import { ListAccess } from "../list-access.ts";
import { NOW_US, refused, useStores, type OpenStores } from "../stores.ts";
import { withMethod } from "../with-method.ts";
import {
  contentOf,
  openModel,
  outcomeOf,
  possibleOutcomes,
  rightsOf,
  stepsAtOnce,
} from "./two-cores-model.ts";

const BAD = refused("unauthenticated", "BAD_CREDENTIAL");
const PASSWORD = "correct horse battery";
/** A second, and the delay of a busy machine. */
const SOON = { timeout: 3_000, interval: 10 };

/** Two cores on one store, as two servers have it: changes at one apply at the other. */
export function coreAccessTwoCoresContract(open: OpenStores, restores: boolean): void {
  const bench = useStores(open);
  let first: AccessUnderTest;
  let second: AccessUnderTest;
  beforeEach(async () => {
    [first, second] = [await openAccess(bench.under), await openAccess(bench.under)];
    // From here on they know only the changes in the journal.
    for (const core of [first, second]) await core.follower.catchUp();
  });
  const may = ({ rights }: Identity, namespace: string, runId?: string) =>
    rights.may("read", { namespace, ...(runId !== undefined && { runId }) });

  it("A43 a change at one core while another loads access applies there", async () => {
    await first.user("ada", PASSWORD);
    const { secret } = await first.token("ada");
    const store = bench.under.access;
    const follower = new Follower(bench.journal);
    let loads = 0;
    const loadAccess = async () => {
      const content = await store.loadAccess();
      if (++loads > 1) return content;
      await first.access.updatePrincipal(ADMIN, { name: "ada", disabled: true });
      await follower.catchUp();
      return content;
    };
    const third = await openModel({ ...store, loadAccess }, follower);
    expect(() => here(third.identify(secret))).toThrow(BAD);
    await third.close();
  });

  it("A43 a token that is made here is accepted there at once, with its session and its login", async () => {
    await first.user("ada", PASSWORD);
    const { secret } = await first.token("ada");
    expect(() => here(second.access.identify(secret))).toThrow(BAD);
    const ada = await second.access.identify(secret);
    expect(ada.principal.name).toBe("ada");
    const session = await first.access.createSession(as(here(first.access.identify(secret)), "public"));
    expect((await second.access.identifySession(session)).principal.name).toBe("ada");
    await first.user("ben", PASSWORD);
    const login = await second.access.logIn(VISITOR, { name: "ben", password: PASSWORD });
    expect((await first.access.identify(login.secret)).principal.name).toBe("ben");
  });

  it("A43 a token that is revoked here is refused there within a second, also where it is in use", async () => {
    await first.user("ada");
    const { secret, token } = await first.token("ada");
    const ada = await second.access.identify(secret);
    let changes = 0;
    second.access.onChange(() => changes++);
    await first.access.revokeToken(ADMIN, token.id);
    await expect.poll(() => throwsEnded(() => ada.rights.mayAnywhere("read")), SOON).toBe(true);
    expect(changes).toBe(1);
    await expect(async () => second.access.identify(secret)).rejects.toThrow(BAD);
  });

  it("A43 bindings and closures made here apply there within a second", async () => {
    const ada = await first.user("ada");
    await first.bind("ada", "viewer", on("a"));
    const there = await second.access.identify((await first.token("ada")).secret);
    expect([may(ada, "a/b"), may(there, "a/b")]).toEqual([true, true]);
    await first.close(on("a/b"));
    await expect.poll(() => may(there, "a/b"), SOON).toBe(false);
    expect(may(there, "a")).toBe(true);
    await first.access.updatePrincipal(ADMIN, { name: "ada", disabled: true });
    await expect.poll(() => may(there, "a"), SOON).toBe(false);
  });

  it("A43 new tokens there keep the cached answers here", async () => {
    const ada = await first.user("ada");
    await first.bind("ada", "viewer", on("a"));
    const mask = ada.rights.readable();
    let changes = 0;
    first.access.onChange(() => changes++);
    await second.token("ada");
    await first.follower.catchUp();
    expect(first.access.listTokens(ADMIN, "ada")).toHaveLength(2);
    expect([changes, ada.rights.readable()]).toEqual([0, mask]);
  });

  it("A43 however many unknown tokens are sent, the store is rarely read", async () => {
    let looks = 0;
    const { journal } = bench.under;
    const counted: typeof journal = {
      position: () => journal.position(),
      changesSince: (...args) => {
        looks++;
        return journal.changesSince(...args);
      },
      append: (...args) => journal.append(...args),
      readPoints: (request) => journal.readPoints(request),
      subscribe: (wake) => journal.subscribe(wake),
    };
    const core = await openAccess({ ...bench.under, journal: counted });
    const { secret } = await first.user("ada").then(() => first.token("ada"));
    const unknown = (i: number) => secret.slice(0, -8) + String(i).padStart(8, "0");
    const beginMs = performance.now();
    for (let round = 0; round < 5; round++) {
      const shown = Array.from({ length: 200 }, async (_, i) => core.access.identify(unknown(i)));
      // One that was created meanwhile is found among them.
      const known = (async () => core.access.identify((await first.token("ada")).secret))();
      for (const { status } of await Promise.allSettled(shown)) expect(status).toBe("rejected");
      expect((await known).principal.name).toBe("ada");
    }
    for (let i = 0; i < 40; i++) {
      await expect(async () => core.access.identify(unknown(i))).rejects.toThrow(BAD);
    }
    expect(looks).toBeLessThan(2 + (performance.now() - beginMs) / 10);
  });

  it("A43 keeps the last use of a token, whichever core it was used at", async () => {
    await first.user("ada");
    const { secret, token } = await first.token("ada");
    const usedUs = ({ access }: AccessUnderTest) =>
      access.listTokens(ADMIN, "ada").find(({ id }) => id === token.id)!.lastUsedUs;
    first.clock.us = NOW_US + 600_000_000;
    here(first.access.identify(secret));
    await second.access.identify(secret);
    await first.access.close();
    await second.follower.catchUp();
    expect(usedUs(second)).toBe(first.clock.us);
    // Its own use was earlier: it must not take the later one away.
    await second.access.close();
    const { tokens } = await bench.under.access.loadAccess();
    expect(tokens.find(({ id }) => id === token.id)!.lastUsedUs).toBe(first.clock.us);
  });

  it("A17 A43 a purge here makes the other drop the run and its bindings", async () => {
    const ada = await first.user("ada");
    const { run } = await first.runs.create(ADMIN, asked({ namespace: "a" }));
    await first.bind("ada", "viewer", on("", run.id));
    const there = await second.access.identify((await first.token("ada")).secret);
    const ref = { by: "id", id: run.id } as const;
    expect((await second.runs.whereIs(as(there, "read"), ref)).namespace).toBe("a");
    await first.runs.delete(ADMIN, ref);
    await first.runs.purge(ADMIN, ref);
    expect(may(ada, "a", run.id)).toBe(false);
    await expect.poll(() => may(there, "a", run.id), SOON).toBe(false);
    await expect(second.runs.whereIs(ADMIN, ref)).rejects.toEqual(refused("not-found"));
  });

  it("H14 a run that was purged during its look-up is not cached", async () => {
    const { run } = await first.runs.create(ADMIN, asked({ namespace: "a" }));
    const ref = { by: "id", id: run.id } as const;
    const [found, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = withMethod(bench.runs, "findRuns", async (...args) => {
      const runs = await bench.runs.findRuns(...args);
      found.resolve();
      await answer.promise;
      return runs;
    });
    const core = await openAccess({ ...bench.under, runs: slow });
    await core.follower.catchUp();
    const locating = core.runs.whereIs(ADMIN, ref);
    await found.promise;
    await first.runs.delete(ADMIN, ref);
    await first.runs.purge(ADMIN, ref);
    await core.follower.catchUp();
    // Who asks from now on gets no answer from before.
    const later = expect(core.runs.whereIs(ADMIN, ref)).rejects.toEqual(refused("not-found"));
    answer.resolve();
    expect((await locating).id).toBe(run.id);
    await later;
    await expect(core.runs.whereIs(ADMIN, ref)).rejects.toEqual(refused("not-found"));
  });

  it("H14 a capture policy and an objective that are set here apply there, and here at once", async () => {
    const objective = { metric: "loss", direction: "minimize" as const };
    await first.namespaces.create(ADMIN, { path: "a", description: "", objective });
    expect((await second.namespaces.get(ADMIN, "a")).objective).toMatchObject(objective);
    await first.namespaces.update(ADMIN, { path: "a", forbidsCode: true });
    const codeAt = async ({ runs }: AccessUnderTest) =>
      (await runs.create(ADMIN, asked({ namespace: "a/b" }))).forbidden.code;
    expect(await codeAt(first)).toBe("a");
    await expect.poll(() => codeAt(second), SOON).toBe("a");
    await second.namespaces.update(ADMIN, { path: "a", forbidsCode: false });
    expect(await codeAt(second)).toBeUndefined();
    await expect.poll(() => codeAt(first), SOON).toBeUndefined();
  });

  it.runIf(restores)("A18 H14 a restore here applies there", async () => {
    await first.namespaces.create(ADMIN, { path: "a", description: "", objective: undefined });
    await first.namespaces.update(ADMIN, { path: "a", forbidsCode: true });
    await first.user("ada");
    const kept = await first.token("ada");
    const backup = await first.system.createBackup(ADMIN, "");
    await first.user("ben");
    await first.namespaces.update(ADMIN, { path: "a", forbidsCode: false });
    const { run } = await first.runs.create(ADMIN, asked({ namespace: "a" }));
    const late = await second.access.identify((await first.token("ben")).secret);
    await second.runs.whereIs(ADMIN, { by: "id", id: run.id });
    await first.system.restoreBackup(ADMIN, backup.name);
    await expect.poll(() => throwsEnded(() => late.rights.mayAnywhere("read")), SOON).toBe(true);
    expect((await second.access.identify(kept.secret)).principal.name).toBe("ada");
    expect((await second.runs.create(ADMIN, asked({ namespace: "a" }))).forbidden.code).toBe("a");
    await expect(second.runs.whereIs(ADMIN, { by: "id", id: run.id })).rejects.toEqual(refused("not-found"));
    // A plan from before the restore is made again on what was restored.
    await second.user("ben");
    expect((await bench.under.access.loadAccess()).principals.map(({ name }) => name)).toContain("ben");
  });

  it("A44 concurrent changes of both take effect", async () => {
    await first.group("lab");
    const names = Array.from({ length: 12 }, (_, i) => `user-${i}`);
    for (const name of names) await first.user(name);
    const cores = [first, second];
    await Promise.all(
      names.map((member, i) => cores[i % 2]!.access.addMember(ADMIN, { group: "lab", member })),
    );
    for (const core of cores) {
      await core.follower.catchUp();
      const { principals } = core.access.listPrincipals(ADMIN, { pageSize: 100, pageToken: "" });
      expect(principals.find(({ name }) => name === "lab")!.members.toSorted()).toEqual(names.toSorted());
    }
    const twice = await Promise.allSettled(
      cores.map(({ access }) =>
        access.createPrincipal(ADMIN, { name: "same", kind: "user", displayName: "", password: "" }),
      ),
    );
    const refusals = twice.flatMap((result) =>
      result.status === "rejected" ? [result.reason as unknown] : [],
    );
    expect(refusals).toEqual([refused("exists")]);
  });

  it("A43 A44 any changes of two cores, in turn or at once, have the result of one core in some order", async () => {
    await first.user("u1");
    const { secret } = await first.token("u1");
    const store = bench.under.access;
    await fc.assert(
      fc.asyncProperty(fc.array(stepsAtOnce, { minLength: 1, maxLength: 6 }), async (schedule) => {
        for (const steps of schedule) {
          const before = await contentOf(store);
          const outcomes = await Promise.all(
            steps.map(({ core, act }) => outcomeOf((core === 0 ? first : second).access, act)),
          );
          const seen = { outcomes, content: await contentOf(store) };
          expect(await possibleOutcomes(before, steps)).toContainEqual(seen);
        }
        const model = await openModel(new ListAccess(await contentOf(store)));
        for (const { follower, access } of [first, second]) {
          await follower.catchUp();
          expect(await rightsOf(access, secret)).toEqual(await rightsOf(model, secret));
        }
        await model.close();
      }),
      { numRuns: 40 },
    );
  });
}

function throwsEnded(ask: () => unknown): boolean {
  try {
    ask();
    return false;
  } catch (thrown) {
    return CairnError.from(thrown).reason === "CREDENTIAL_ENDED";
  }
}
