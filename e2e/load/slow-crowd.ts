/**
 * A process full of slow clients, so that their cost is not part of the measurement.
 * Whoever is closed by the server is replaced. When the parent says "enough", those who came as a
 * replacement leave, and the others wait until the server closes them, too. The parent gets how many
 * there are every now and then.
 */
import type { Socket } from "node:net";
import { SLOW_SENDERS, stalledReaders, startSlow, type SlowClient } from "./slow-client.ts";

export interface CrowdStart {
  port: number;
  runId: string;
  key: string;
  senders: number;
  readers: number;
  byteMs: number;
}

/** By kind: how many are connected now, and how many the server has closed so far. */
export type CrowdCounts = Record<string, { open: number; closed: number }>;

const TELL_MS = 250;

const counts: CrowdCounts = {};
const replacements = new Set<Socket>();
let enough = false;

process.on("message", (said: CrowdStart | "enough") => {
  if (said === "enough") {
    enough = true;
    for (const socket of replacements) socket.destroy();
    return;
  }
  const { port, runId, key, senders, readers, byteMs } = said;
  const begin = (name: string, client: SlowClient, replaces: boolean): void => {
    const count = (counts[name] ??= { open: 0, closed: 0 });
    count.open++;
    const socket = startSlow(port, client, byteMs, () => {
      count.open--;
      if (enough && replaces) return;
      count.closed++;
      replacements.delete(socket);
      if (!enough) begin(name, client, true);
    });
    if (replaces) replacements.add(socket);
  };
  for (const [clients, total] of [
    [SLOW_SENDERS, senders],
    [stalledReaders(runId, key), readers],
  ] as const) {
    const all = Object.entries(clients);
    for (let at = 0; at < total; at++) begin(...all[at % all.length]!, false);
  }
  setInterval(() => process.send?.(counts), TELL_MS);
});

// Without a parent the process is not needed any more.
process.on("disconnect", () => process.exit());
