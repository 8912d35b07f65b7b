/** Delivers one folder of the spool, whose owner waits for it. See leftovers.ts. */
import { Cairn } from "../client.ts";
import { findServer } from "../login.ts";
import { syncWriter } from "../sync.ts";

const [folder, deadlineMs] = process.argv.slice(2);
const report = await syncWriter(folder!, {
  connect: async (server) => new Cairn(await findServer({ server: server || undefined })),
  evenIfAlive: true,
  signal: AbortSignal.timeout(Number(deadlineMs)),
});
process.exitCode = report.isDone ? 0 : 1;
