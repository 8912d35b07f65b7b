import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readNumbers, startJob, useWorld } from "../sdk/job.ts";
import { endJob, spoolJob } from "./spool-job.ts";

const world = useWorld();
const folder = mkdtempSync(join(tmpdir(), "cairn-full-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

it("C10 without a writable spool, everything goes to the server from memory", async () => {
  const spool = join(folder, "file");
  writeFileSync(spool, "");
  const trainer = startJob(spoolJob(world.server.url, spool, "no-home", false));
  await expect.poll(() => trainer.lines.join("\n")).toContain("cannot write the spool");
  const { client } = world;
  await expect
    .poll(async () => {
      const run = await client.runs.getRun({ run: { alias: "no-home" } }).catch(() => undefined);
      return run === undefined ? 0 : (await readNumbers(client, run.id, "a")).steps.length;
    })
    .toBeGreaterThan(20);
  const logged = await endJob(trainer);
  const { id } = await client.runs.getRun({ run: { alias: "no-home" } });
  expect((await readNumbers(client, id, "a")).steps).toEqual(
    Array.from({ length: logged }, (_, step) => step),
  );
  expect((await client.system.verifyRun({ run: { id } })).verdict).toContain(", 0 gaps");
  expect(trainer.lines.filter((line) => line.includes("cannot write the spool")).length).toBe(1);
});
