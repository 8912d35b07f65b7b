import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { useTerminal, type Terminal } from "./cairn.ts";
import { START } from "./start-cairn.ts";

/** A name that would run programs if a shell evaluated it. */
export const HOSTILE = "$(touch pwned) `touch pwned`; touch pwned & 'x' \"y\" *";

export interface CompletionServer {
  readonly terminal: Terminal;
  /** Has the program as `cairn`, for shells. */
  readonly bin: string;
  /** With `bin` first in the path, and time for a machine that is busy. */
  env(): Record<string, string>;
}

/** A server with runs whose names are completed. For one test file. */
export function useCompletionServer(): CompletionServer {
  const terminal = useTerminal();
  const bin = mkdtempSync(join(tmpdir(), "cairn-bin-"));
  writeFileSync(join(bin, "cairn"), `#!/bin/sh\nexec "${process.execPath}" "${START}" "$@"\n`);
  chmodSync(join(bin, "cairn"), 0o755);
  beforeAll(async () => {
    const { runs, metrics } = terminal.client;
    const { run } = await runs.createRun({
      namespace: "demo/mnist",
      name: "first",
      aliases: ["local://t/f1"],
    });
    const series = [
      { key: "train/loss", steps: [1n], values: [1] },
      { key: "train/acc", steps: [1n], values: [1] },
      { key: "val", steps: [1n], values: [1] },
    ];
    await metrics.writeEnvelope({ run: { id: run!.id }, series });
    for (const name of ["second run", HOSTILE, "evil\nline\u001b[2J", "50%_off"]) {
      await runs.createRun({ namespace: "demo/cifar", name });
    }
    const { run: gone } = await runs.createRun({ namespace: "demo/bin", name: "thrown" });
    await runs.deleteRun({ run: { id: gone!.id } });
    await terminal.client.access.createPrincipal({ name: "ada", kind: 1, displayName: "Ada" });
  });
  afterAll(() => rmSync(bin, { recursive: true }));
  return {
    terminal,
    bin,
    env: () => ({
      PATH: `${bin}:${process.env["PATH"]}`,
      HOME: terminal.home,
      CAIRN_SERVER: terminal.server.url,
      CAIRN_COMPLETION_MS: "60000",
    }),
  };
}
