import { afterEach } from "vitest";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { useTerminal, type Terminal } from "./cairn.ts";
import { openPseudoTerminal, type PseudoTerminal, type PseudoTerminalOptions } from "./pseudo-terminal.ts";

export interface TopTerminal {
  readonly terminal: Terminal;
  /** Ended after the test, as a run that is still going would show in the next one. */
  startRun(name: string, namespace?: string): Promise<string>;
  log(id: string, step: number, value: number, key?: string): Promise<void>;
  /** `cairn top` on a terminal that is closed after the test. */
  open(words: readonly string[], options?: PseudoTerminalOptions): PseudoTerminal;
}

/** A server with runs, and `cairn top` on a terminal. For one test file. */
export function useTop(): TopTerminal {
  const terminal = useTerminal();
  let opened: PseudoTerminal | undefined;
  const started: string[] = [];
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
    for (const id of started.splice(0)) {
      await terminal.client.runs.updateRun({ run: { id }, status: RunStatus.FINISHED });
    }
  });
  return {
    terminal,
    startRun: async (name, namespace = "live") => {
      const { run } = await terminal.client.runs.createRun({ namespace, name, tags: { team: "asr" } });
      started.push(run!.id);
      return run!.id;
    },
    log: async (id, step, value, key = "loss") => {
      await terminal.client.metrics.writeEnvelope({
        run: { id },
        series: [{ key, steps: [BigInt(step)], values: [value], timesUs: [BigInt(Date.now()) * 1000n] }],
      });
    },
    open: (words, options = {}) => {
      const env = { HOME: terminal.home, CAIRN_SERVER: terminal.server.url, NO_COLOR: "1", ...options.env };
      opened = openPseudoTerminal(["top", ...words], { ...options, env });
      return opened;
    },
  };
}
