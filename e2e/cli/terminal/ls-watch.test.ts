import { describe, expect, it } from "vitest";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { useTerminal } from "../testing/cairn.ts";
import { CuttableProxy } from "../../cuttable-proxy.ts";
import { runOnTerminal } from "../testing/pty.ts";
import { createRun, writeEnvelope } from "../testing/sample-runs.ts";

describe("cairn ls --watch", () => {
  const terminal = useTerminal();

  it("T23 is updated when a run changes, and restores the terminal", async () => {
    const { client, server, home } = terminal;
    const screen = runOnTerminal("stty cols 100 rows 12; exec $CAIRN ls -n live --watch", {
      HOME: home,
      CAIRN_SERVER: server.url,
    });
    await screen.shows("0 runs · ");
    await screen.shows("\u001b[?1049h");
    const run = await createRun(client, { namespace: "live", name: "newcomer" });
    await screen.shows("newcomer");
    await writeEnvelope(client, run, { series: [{ key: "loss", steps: [1n], values: [0.123] }] });
    await screen.shows("0.123");
    await writeEnvelope(client, run, { series: [{ key: "loss", steps: [2n], values: [0.0625] }] });
    await screen.shows("0.0625");
    await writeEnvelope(client, run, { status: RunStatus.FAILED });
    await screen.shows("failed");
    screen.type("q");
    expect(await screen.ended).toBe(0);
    expect(screen.screen).toMatch(/\u001b\[\?25h\u001b\[\?1049l\s*$/);
  });

  it("T23 is not read again when its watch begins, and changes before that are shown", async () => {
    const { client, server, home } = terminal;
    const run = await createRun(client, { namespace: "once", name: "early" });
    await writeEnvelope(client, run, { series: [{ key: "loss", steps: [1n], values: [0.5] }] });
    const [held, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let searches = 0;
    const proxy = await CuttableProxy.open(server.url, async (bytes) => {
      if (bytes.includes("RunService/SearchRuns")) searches++;
      if (bytes.includes("WatchService/Watch")) {
        held.resolve();
        await changed.promise;
      }
      return false;
    });
    const screen = runOnTerminal("stty cols 100 rows 12; exec $CAIRN ls -n once --watch", {
      HOME: home,
      CAIRN_SERVER: proxy.url,
    });
    await held.promise;
    const before = searches;
    await client.runs.updateRun({ run: { id: run.id }, name: "renamed" });
    changed.resolve();
    await screen.shows("renamed");
    expect(searches).toBe(before + 1);
    screen.type("q");
    expect(await screen.ended).toBe(0);
    await proxy.cut();
  });

  it("T23 reconnects after a lost connection", async () => {
    const { client, server, home } = terminal;
    const proxy = await CuttableProxy.open(server.url);
    await createRun(client, { namespace: "broken", name: "early" });
    const screen = runOnTerminal("stty cols 100 rows 12; exec $CAIRN ls -n broken --watch", {
      HOME: home,
      CAIRN_SERVER: proxy.url,
    });
    await screen.shows("early");
    await screen.shows("live");
    await proxy.cut();
    await screen.shows("waiting: cannot reach");
    await createRun(client, { namespace: "broken", name: "late" });
    await proxy.restore();
    await screen.shows("late");
    screen.type("\u0003");
    expect(await screen.ended).toBe(130);
    expect(screen.screen).toMatch(/\u001b\[\?25h\u001b\[\?1049l\s*$/);
    await proxy.cut();
  });

  it("T23 refuses an invalid query before it uses the screen", async () => {
    const env = { HOME: terminal.home, CAIRN_SERVER: terminal.server.url };
    const screen = runOnTerminal("exec $CAIRN ls 'nope =' --watch", env);
    expect(await screen.ended).toBe(1);
    expect(screen.screen).toContain("cannot parse query");
    expect(screen.screen).not.toContain("\u001b[?1049h");
  });
});
