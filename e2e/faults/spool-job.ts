import { expect } from "vitest";
import type { startJob } from "../sdk/job.ts";

/** Logs a point and a text of 2 KiB every few milliseconds, and prints warnings and its step. */
export const spoolJob = (server: string, spool: string, name: string, offline: boolean): string => `
const run = await cairn.init({ server: ${JSON.stringify(server)}, alias: "${name}", spool: ${JSON.stringify(spool)},
  capture: false, offline: ${offline}, onNotice: (text) => console.log(text.split("\\n")[0]) });
let step = 0;
process.on("SIGUSR2", async () => {
  clearInterval(timer);
  run.flush();
  console.log("logged", step);
  await run.finish("finished", { deadlineMs: 60_000 });
  process.exit(0);
});
const timer = setInterval(() => {
  run.log({ a: step, filler: "x".repeat(2_048) }, { step: step++ });
  run.flush();
}, 5);
`;

/** Tells it to stop, and gives how many points it has logged. */
export async function endJob(started: ReturnType<typeof startJob>): Promise<number> {
  started.child.kill("SIGUSR2");
  expect(await started.exited, started.stderr()).toMatchObject({ code: 0 });
  return Number(/^logged (\d+)$/m.exec(started.lines.join("\n"))![1]);
}
