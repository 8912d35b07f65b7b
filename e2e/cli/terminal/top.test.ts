import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { Cairn } from "#sdk/client.ts";
import { startChild } from "#server/testing/child.ts";
import { CuttableProxy } from "../../cuttable-proxy.ts";
import { steadyPort } from "../../steady-port.ts";
import type { PseudoTerminal } from "../testing/pseudo-terminal.ts";
import { useTop } from "../testing/top-terminal.ts";

describe("cairn top", () => {
  const { terminal, startRun, log, open } = useTop();

  it("T48 shows the objective of the namespace first, with earlier points", async () => {
    await terminal.client.namespaces.createNamespace({
      path: "judged/below",
      objective: { metric: "val/acc", direction: Direction.MAXIMIZE },
    });
    const id = await startRun("judged-run", "judged/below/deep");
    for (let step = 0; step < 30; step++) await log(id, step, step / 30, "val/acc");
    await log(id, 30, 3, "a/loss");
    const { screen } = open(["-n", "judged"], { columns: 140 });
    await expect.poll(() => screen.text).toMatch(/judged-run .* val\/acc 0\.9667 ▁.*█ .*a\/loss 3/);
  });

  it("T48 reads its list once: changes before the watch begins are shown without another search", async () => {
    const [held, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let searches = 0;
    const proxy = await CuttableProxy.open(terminal.server.url, async (bytes) => {
      if (bytes.includes("RunService/SearchRuns")) searches++;
      if (bytes.includes("WatchService/Watch")) {
        held.resolve();
        await changed.promise;
      }
      return false;
    });
    const id = await startRun("early");
    await log(id, 1, 1);
    const { screen } = open([], { env: { CAIRN_SERVER: proxy.url } });
    await held.promise;
    await log(id, 2, 0.125);
    await terminal.client.runs.updateRun({ run: { id }, name: "renamed" });
    const late = await startRun("late");
    await log(late, 1, 0.25);
    changed.resolve();
    await expect.poll(() => screen.text).toMatch(/renamed .* 2 .* loss 0\.125/);
    await expect.poll(() => screen.text).toMatch(/late .* 1 .* loss 0\.25/);
    await log(late, 2, 0.0625);
    await expect.poll(() => screen.text).toMatch(/late .* 2 .* loss 0\.0625/);
    expect(searches).toBe(1);
    await proxy.cut();
  });

  it("T48 handles keys, and a new size", async () => {
    const ids = [await startRun("alpha"), await startRun("beta")];
    for (const [i, id] of ids.entries()) for (let step = 0; step < 5; step++) await log(id, step, step + i);
    const pty = open([]);
    const { screen } = pty;
    await expect.poll(() => screen.text).toContain("beta");
    pty.type("/alp\r");
    await expect.poll(() => screen.text).not.toContain("beta");
    pty.type("/\u001b");
    await expect.poll(() => screen.text).toContain("beta");
    pty.type("ss");
    await expect.poll(() => screen.text).toContain("by step");
    pty.type("/alp\r");
    pty.type("j\r");
    await expect.poll(() => screen.text).toContain("exact, 5 points");
    expect(screen.text).toContain(ids[0]);
    pty.resize(60, 20);
    await expect.poll(() => screen.line(19)).toContain("another metric");
    pty.type("q?");
    await expect.poll(() => screen.text).toContain("filter by name");
    // A stopped program could not be continued here, so it is not stopped; the screen is initialized again.
    pty.type("q\u001a");
    await expect.poll(() => screen.alternate && screen.text.includes("alpha")).toBe(true);
    pty.type("q");
    expect(await pty.ended).toBe(0);
    expect([screen.alternate, screen.cursorVisible, screen.wraps]).toEqual([false, true, true]);
  });

  it("T47 writes only lines that changed", async () => {
    await log(await startRun("quiet"), 1, 1);
    await log(await startRun("busy"), 1, 1);
    const { screen } = open([]);
    await expect.poll(() => screen.text).toMatch(/busy[\s\S]*quiet|quiet[\s\S]*busy/);
    for (let ticks = 0; ticks < 4; ticks++) {
      const before = [...screen.text.split("\n").keys()].map((row) => screen.line(row));
      screen.takeTouched();
      // The clock in the first line and the ages in the rows change, which may make their column wider.
      await expect.poll(() => screen.line(0)).not.toBe(before[0]);
      const touched = screen.takeTouched();
      expect(touched).toContain(0);
      for (const row of touched) expect(screen.line(row), `row ${row}`).not.toBe(before[row]);
    }
  });

  it.each([
    ["Ctrl-C", (pty: PseudoTerminal) => pty.type("\u0003"), 130],
    ["SIGTERM", (pty: PseudoTerminal) => pty.kill(15), 143],
  ])("T47 gives the terminal back on %s", async (_, end, code) => {
    const pty = open([]);
    await expect.poll(() => pty.screen.line(0)).toContain("cairn top");
    end(pty);
    expect(await pty.ended).toBe(code);
    expect([pty.screen.alternate, pty.screen.cursorVisible, pty.screen.wraps]).toEqual([false, true, true]);
  });

  it("T49 shows a lost connection, and reconnects", async () => {
    const proxy = await CuttableProxy.open(terminal.server.url);
    const id = await startRun("patient");
    await log(id, 1, 1);
    const ending = await startRun("ends-meanwhile");
    const { screen } = open([], { env: { CAIRN_SERVER: proxy.url } });
    await expect.poll(() => screen.text).toMatch(/patient .* loss 1 /);
    await proxy.cut();
    await expect.poll(() => screen.line(23)).toContain("connection lost");
    expect(screen.text).toContain("patient");
    await log(id, 2, 0.125);
    await terminal.client.runs.updateRun({ run: { id: ending }, status: RunStatus.KILLED });
    await proxy.restore();
    await expect.poll(() => screen.text).toMatch(/patient .* 2 .* loss 0\.125/);
    await expect.poll(() => screen.text).toContain("■ ends-meanwhile");
    await expect.poll(() => screen.line(23)).not.toContain("connection lost");
    await log(id, 3, 0.0625);
    await expect.poll(() => screen.text, { interval: 20 }).toMatch(/patient .* 3 .* loss 0\.0625/);
    await proxy.cut();
  });

  it("T49 reconnects when the server was killed and started again", async () => {
    const data = mkdtempSync(join(tmpdir(), "cairn-top-"));
    const port = await steadyPort();
    const start = () => startChild(["--data", data, "--port", String(port)]);
    let server = await start();
    const { runs, metrics } = new Cairn({ url: server.url });
    const begin = async (name: string) => (await runs.createRun({ namespace: "live", name })).run!.id;
    const write = (id: string, step: number) =>
      metrics.writeEnvelope({
        run: { id },
        series: [{ key: "loss", steps: [BigInt(step)], values: [1 / 2 ** step] }],
      });
    const id = await begin("survivor");
    await write(id, 1);
    const pty = open([], { env: { CAIRN_SERVER: server.url } });
    const { screen } = pty;
    await expect.poll(() => screen.text).toMatch(/survivor .* loss 0\.5 /);
    server.child.kill("SIGKILL");
    await server.exited;
    await expect.poll(() => screen.line(23)).toContain("connection lost");
    server = await start();
    await write(id, 2);
    await expect.poll(() => screen.text).toMatch(/survivor .* loss 0\.25 /);
    await write(await begin("newcomer"), 3);
    await expect.poll(() => screen.text).toMatch(/newcomer .* loss 0\.125 /);
    expect(screen.line(23)).not.toContain("connection lost");
    pty.type("q");
    expect(await pty.ended).toBe(0);
    server.child.kill("SIGKILL");
    await server.exited;
    await rm(data, { recursive: true });
  });
});
