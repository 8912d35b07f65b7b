import { expect, it } from "vitest";
import { asked, buildCore, CALLER, NO_CREDENTIAL } from "../core-under-test.ts";
import {
  appendOne,
  envelope,
  NOW_US,
  numbers,
  readNumbers,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

export function coreSystemContract(open: OpenStores, restores: boolean): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under);

  it("E9 says in words how many of how many envelopes are stored", async () => {
    const { system, runs } = await core();
    const { run } = await runs.create(CALLER, asked());
    const verdict = async () => (await system.verifyRun(CALLER, { by: "id", id: run.id })).verdict;
    expect(await verdict()).toBe("0 of 0 envelopes, 0 gaps");
    for (const seq of [1, 2]) await appendOne(bench.journal, envelope(run.id, seq));
    await appendOne(bench.journal, envelope(run.id, 6, { lost: [{ first: 3, last: 5 }] }));
    await appendOne(bench.journal, envelope(run.id, 1, { writer: "v" }));
    expect(await verdict()).toBe("4 of 7 envelopes, 3 declared lost, 0 gaps");
  });

  it("describes the server and its store", async () => {
    const { system, runs } = await core();
    await runs.create(CALLER, asked());
    expect(await system.info(CALLER)).toMatchObject({ version: "0.0.0", startedUs: NOW_US, runs: 1 });
    expect(await system.checkIntegrity(CALLER)).toEqual({ points: 0, runs: 1, problems: [] });
    for (const refusal of [
      system.info(NO_CREDENTIAL),
      system.checkIntegrity(NO_CREDENTIAL),
      system.listBackups(NO_CREDENTIAL),
    ]) {
      await expect(refusal).rejects.toEqual(refused("unauthenticated"));
    }
  });

  it("B1 keeps backups under names, lists them, and refuses taken and invalid names", async () => {
    const { system, clock } = await core();
    expect(await system.listBackups(CALLER)).toEqual([]);
    const long = "n".repeat(100);
    await system.createBackup(CALLER, long);
    const named = await system.createBackup(CALLER, "");
    expect(named.name).toMatch(/^cairn-2026/);
    const names = (await system.listBackups(CALLER)).map(({ name }) => name);
    expect(names.toSorted()).toEqual([named.name, long].toSorted());
    await expect(system.createBackup(CALLER, long)).rejects.toEqual(refused("exists"));
    for (const wrong of ["../x", "a/b", ".hidden", "x".repeat(101), "a b", "\u0000"]) {
      await expect(system.createBackup(CALLER, wrong)).rejects.toEqual(refused("invalid"));
      await expect(system.restoreBackup(CALLER, wrong)).rejects.toEqual(refused("invalid"));
    }
    await expect(system.restoreBackup(CALLER, "unknown")).rejects.toEqual(refused("not-found"));
    clock.us += 1;
    const twice = await Promise.allSettled([1, 2].map(() => system.createBackup(CALLER, "same")));
    expect(twice.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  it("B1 has no place for backups when everything is in memory", async () => {
    const { system } = await buildCore(bench.under, { backups: false });
    await expect(system.createBackup(CALLER, "x")).rejects.toEqual(refused("precondition", "NO_DIRECTORY"));
    await expect(system.listBackups(CALLER)).rejects.toEqual(refused("precondition", "NO_DIRECTORY"));
  });

  it.runIf(restores)("B1 restores a backup, keeps aside what was there, and can go back", async () => {
    const { system, runs, clock } = await core();
    const { run } = await runs.create(CALLER, asked());
    const log = (seq: number) =>
      appendOne(bench.journal, envelope(run.id, seq, { series: [numbers("loss", [seq], seq)] }));
    await log(1);
    const backup = await system.createBackup(CALLER, "one");
    await log(2);
    const { restored, keptAside } = await system.restoreBackup(CALLER, "one");
    expect(restored).toEqual(backup);
    expect(keptAside.name).toMatch(/^before-restore-/);
    expect(await readNumbers(bench.points, run.id, "loss")).toEqual([1]);
    clock.us += 1e6;
    await system.restoreBackup(CALLER, keptAside.name);
    expect(await readNumbers(bench.points, run.id, "loss")).toEqual([1, 2]);
    expect(await system.listBackups(CALLER)).toHaveLength(3);
    await log(3);
  });
}
