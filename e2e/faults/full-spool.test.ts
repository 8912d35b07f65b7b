import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readNumbers, startJob, useWorld } from "../sdk/job.ts";
import { SmallDisk } from "./small-disk.ts";

const world = useWorld();
const folder = mkdtempSync(join(tmpdir(), "cairn-full-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Logs a point and a text of 2 KiB every few milliseconds, and prints what it is told and where it is. */
const job = (spool: string, name: string, offline: boolean) => `
const run = await cairn.init({ server: ${JSON.stringify(world.server.url)}, alias: "${name}", spool: ${JSON.stringify(spool)},
  capture: false, offline: ${offline}, tell: (text) => console.log(text.split("\\n")[0]) });
let step = 0;
process.on("SIGUSR2", async () => {
  clearInterval(timer);
  run.flush();
  console.log("logged", step);
  await run.finish("finished", { deadlineMs: 20_000 });
  process.exit(0);
});
const timer = setInterval(() => {
  run.log({ a: step, filler: "x".repeat(2_048) }, { step: step++ });
  run.flush();
}, 5);
`;

async function end(started: ReturnType<typeof startJob>): Promise<number> {
  started.child.kill("SIGUSR2");
  expect(await started.exited, started.stderr()).toMatchObject({ code: 0 });
  return Number(/^logged (\d+)$/m.exec(started.lines.join("\n"))![1]);
}

describe("a spool that cannot be written", () => {
  it("C10, R11: a full disk is told once, the run goes on from memory, and nothing is lost when there is room again", async () => {
    const disk = await SmallDisk.mount(8 << 20);
    const spool = join(disk.folder, "spool");
    disk.fill(64 << 10);
    const trainer = startJob(job(spool, "full", true), { through: disk.through });
    await expect.poll(() => trainer.lines.join("\n")).toContain("the disk is full");
    disk.clear();
    await expect.poll(() => trainer.lines.join("\n")).toContain("can be written again");
    const logged = await end(trainer);
    expect(trainer.lines.filter((line) => line.includes("the disk is full")).length).toBe(1);
    const sync = startJob(
      `const { Cairn, sync } = cairn;
       const reports = await sync(${JSON.stringify(spool)}, { connect: async (url) => new Cairn({ url }) });
       console.log(JSON.stringify(reports.map(({ isDone, lost, refused }) => [isDone, lost, refused])));`,
      { through: disk.through },
    );
    expect(await sync.exited, sync.stderr()).toMatchObject({ code: 0 });
    expect(sync.lines).toEqual(["[[true,0,0]]"]);
    const { id } = await world.client.runs.getRun({ run: { alias: "full" } });
    expect((await readNumbers(world.client, id, "a")).steps).toEqual(
      Array.from({ length: logged }, (_, step) => step),
    );
    await disk.unmount();
  });

  it("C10 where no spool can be made, everything goes to the server from memory", async () => {
    const spool = join(folder, "file");
    writeFileSync(spool, "");
    const trainer = startJob(job(spool, "no-home", false));
    await expect.poll(() => trainer.lines.join("\n")).toContain("cannot write the spool");
    const { client } = world;
    await expect
      .poll(async () => {
        const run = await client.runs.getRun({ run: { alias: "no-home" } }).catch(() => undefined);
        return run === undefined ? 0 : (await readNumbers(client, run.id, "a")).steps.length;
      })
      .toBeGreaterThan(20);
    const logged = await end(trainer);
    const { id } = await client.runs.getRun({ run: { alias: "no-home" } });
    expect((await readNumbers(client, id, "a")).steps).toEqual(
      Array.from({ length: logged }, (_, step) => step),
    );
    expect((await client.system.verifyRun({ run: { id } })).verdict).toContain(", 0 gaps");
    expect(trainer.lines.filter((line) => line.includes("cannot write the spool")).length).toBe(1);
  });
});
