import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { init } from "#sdk/run/init.ts";
import { useWorld } from "./job.ts";

const world = useWorld();
const folder = mkdtempSync(join(tmpdir(), "cairn-audited-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("A38 a job that logs, uploads and finishes leaves nothing in the audit", async () => {
  const file = join(folder, "model.pt");
  writeFileSync(file, Buffer.alloc(300_000, "x"));
  const run = await init({
    server: world.server.url,
    spool: world.spool,
    handleExit: false,
    params: { lr: 0.1 },
  });
  for (let step = 0; step < 10; step++) run.log({ loss: 1 / (step + 1) }, { step });
  run.params.set({ lr: 0.2, more: true });
  await run.artifact("model.pt", file);
  expect(await run.finish()).toMatchObject({ delivered: true });
  expect((await world.client.access.listAudit({})).entries).toEqual([]);
});
