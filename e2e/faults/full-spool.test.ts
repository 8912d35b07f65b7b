import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readNumbers, startJob, useWorld } from "../sdk/job.ts";
import { SmallDisk } from "./small-disk.ts";
import { endJob, spoolJob } from "./spool-job.ts";

const world = useWorld();

describe("a spool that cannot be written", () => {
  it("C10, R11: a full disk causes one warning, the run continues in memory, and nothing is lost when there is space again", async () => {
    // So large that the job cannot fill it a second time before it is stopped.
    const disk = await SmallDisk.mount(48 << 20);
    const spool = join(disk.folder, "spool");
    disk.fill(64 << 10);
    const trainer = startJob(spoolJob(world.server.url, spool, "full", true), { through: disk.through });
    await expect.poll(() => trainer.lines.join("\n")).toContain("the disk is full");
    disk.clear();
    await expect.poll(() => trainer.lines.join("\n")).toContain("can be written again");
    const logged = await endJob(trainer);
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
});
