import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openMemoryBlobStore } from "#blob/memory/memory-blob-store.ts";
import type { EngineCopies } from "#core/ports/engine.ts";
import { putUploaded, uploaded } from "../artifact-samples.ts";
import { asked, buildCore, CALLER, NO_CREDENTIAL } from "../core-under-test.ts";
import {
  appendOne,
  createRun,
  envelope,
  needsCapability,
  NOW_US,
  numbers,
  readNumbers,
  refused,
  useStores,
  type Bench,
  type OpenStores,
} from "../stores.ts";
import { withMethod } from "../with-method.ts";

const DAY_US = 86_400_000_000;

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
    const checked = system.checkIntegrity(CALLER);
    if (bench.engine.integrity !== undefined)
      expect(await checked).toEqual({ points: 0, runs: 1, problems: [] });
    else await expect(checked).rejects.toEqual(refused("precondition", "NOT_SUPPORTED"));
    for (const refusal of [
      system.info(NO_CREDENTIAL),
      system.checkIntegrity(NO_CREDENTIAL),
      system.listBackups(NO_CREDENTIAL),
    ]) {
      await expect(refusal).rejects.toEqual(refused("unauthenticated"));
    }
  });

  describe("backups", () => backupsContract(bench, restores));
}

function backupsContract(bench: Bench, restores: boolean): void {
  needsCapability(bench, "copies");
  const core = () => buildCore(bench.under);
  /** A core whose engine copies in this way. */
  const copying = (backup: EngineCopies["backup"]) => {
    const copies = withMethod(bench.engine.copies!, "backup", backup);
    return buildCore({ ...bench.under, engine: withMethod(bench.engine, "copies", copies) });
  };

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

  it.runIf(restores)(
    "B1 of two cores that make a backup of one name at once, one makes a whole one",
    async () => {
      const { run } = await (await core()).runs.create(CALLER, asked());
      await appendOne(bench.journal, envelope(run.id, 1, { series: [numbers("loss", [1])] }));
      const [copied, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const first = await copying(async (...backup) => {
        await bench.engine.copies!.backup(...backup);
        copied.resolve();
        await goOn.promise;
      });
      const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const second = await copying(async (file, audit) => {
        await writeFile(file, "half a store");
        begun.resolve();
        await end.promise;
        await rm(file);
        await bench.engine.copies!.backup(file, audit);
      });
      const making = first.system.createBackup(CALLER, "same");
      await copied.promise;
      const late = expect(second.system.createBackup(CALLER, "same")).rejects.toEqual(refused("exists"));
      await begun.promise;
      goOn.resolve();
      const made = await making;
      end.resolve();
      await late;
      expect(await first.system.listBackups(CALLER)).toEqual([made]);
      expect((await readdir(bench.under.directory)).filter((name) => name.includes("partial"))).toEqual([]);
      await second.system.restoreBackup(CALLER, "same");
      expect(await readNumbers(bench.points, run.id, "loss")).toEqual([1]);
    },
  );

  it("B1 removes what a process that was killed left of backups, and nothing else", async () => {
    const { system, clock } = await core();
    const { directory } = bench.under;
    clock.us = Date.now() * 1000;
    await system.createBackup(CALLER, "whole");
    const partial = `db.${randomUUID()}.partial`;
    const young = [`young.${partial}`, "young.blobs"];
    const kept = [...young, "whole.blobs", "moved.blobs", "of.partial.blobs", "foreign.partial", "other"];
    const killed = [`killed.${partial}`, "killed.blobs", `whole.${partial}`, `begun.${partial}.blobs`];
    const left = [...killed, "old.db.partial"];
    for (const name of [...kept, ...left]) {
      const path = join(directory, name);
      await (name.endsWith(".blobs") ? mkdir(path) : writeFile(path, "half a store"));
      const beforeS = (clock.us - (name.startsWith("young") ? 1 : 8) * DAY_US) / 1e6;
      await utimes(path, beforeS, beforeS);
    }
    await system.createBackup(CALLER, "next");
    const names = await readdir(directory);
    expect(names.filter((name) => left.includes(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining([...kept, "whole.db", "next.db"]));
  });

  it("F15 refuses a backup, and a restore, without the content that it should have", async () => {
    const blobs = openMemoryBlobStore();
    const { system } = await buildCore(bench.under, { blobs });
    const { directory } = bench.under;
    await system.createBackup(CALLER, "of-files");
    await mkdir(join(directory, "of-files.blobs", "00"), { recursive: true });
    const notSupported = refused("precondition", "NOT_SUPPORTED");
    await expect(system.restoreBackup(CALLER, "of-files")).rejects.toEqual(notSupported);
    await putUploaded(bench.under, await createRun(bench.runs), uploaded("content"), NOW_US);
    await expect(system.createBackup(CALLER, "refused")).rejects.toEqual(notSupported);
    expect((await system.listBackups(CALLER)).map(({ name }) => name)).toEqual(["of-files"]);
  });
}
