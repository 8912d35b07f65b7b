import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LogOrigin } from "#proto/cairn/v1/log_pb.ts";
import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import { Cairn } from "#sdk/client.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { openCairn, useTerminal } from "./testing/cairn.ts";
import { CuttableProxy } from "../cuttable-proxy.ts";
import { createRun, writeEnvelope } from "./testing/sample-runs.ts";

const follow = (words: readonly string[], url: string) =>
  openCairn(words, { env: { HOME: "/nonexistent", CAIRN_SERVER: url } });
const HOUR_US = 3_600_000_000n;

describe("cairn logs", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;
  let run: Run;
  beforeAll(async () => {
    run = await createRun(terminal.client, { name: "talker" });
    const now = BigInt(Date.now()) * 1000n;
    await writeEnvelope(terminal.client, run, {
      log: [
        { rank: 0, lines: ["begin", "Step 1"], timesUs: [now - 2n * HOUR_US, now - 2n * HOUR_US] },
        { rank: 1, stream: "stderr", lines: ["warning: slow", "step 2"], timesUs: [now, now] },
        { origin: LogOrigin.SCHEDULER, lines: ["preempted soon"], timesUs: [now] },
      ],
    });
  });
  const lines = async (...words: string[]) =>
    (await cairn(["logs", "talker", ...words])).stdout.split("\n").slice(0, -1);

  it("T252 says on standard error that a run has no lines, or that none matches", async () => {
    const silent = await createRun(terminal.client, { name: "silent" });
    const running = await cairn(["logs", "silent"]);
    expect(running).toMatchObject({ code: 0, stdout: "", stderr: "silent has no log lines yet\n" });
    await writeEnvelope(terminal.client, silent, { status: RunStatus.FINISHED });
    expect((await cairn(["logs", "silent", "--tail", "5"])).stderr).toContain("silent has no log lines: ");
    expect((await cairn(["logs", "silent", "-f"])).stderr).toContain("silent has no log lines: ");
    expect(await cairn(["logs", "silent", "--json"])).toMatchObject({ code: 0, stdout: "[]\n" });
    const none = await cairn(["logs", "talker", "--grep", "nowhere to be found"]);
    expect(none).toMatchObject({ code: 0, stdout: "", stderr: "no line of talker matches\n" });
    expect((await cairn(["logs", "talker"])).stderr).toBe("");
    expect((await cairn(["logs", "talker", "--tail", "0"])).stderr).toBe("");
  });

  it("T29 prints all lines, with ranks because there are several", async () => {
    expect(await lines()).toEqual([
      "0 │ begin",
      "0 │ Step 1",
      "1 │ warning: slow",
      "1 │ step 2",
      "  │ preempted soon",
    ]);
  });

  it.each([
    [
      ["--rank", "0"],
      ["begin", "Step 1"],
    ],
    [["--rank", "1", "--tail", "1"], ["step 2"]],
    [
      ["--stream", "stderr"],
      ["warning: slow", "step 2"],
    ],
    [["--origin", "scheduler"], ["preempted soon"]],
    [["--grep", "step", "--rank", "1"], ["step 2"]],
    [
      ["--grep", "step", "-i"],
      ["0 │ Step 1", "1 │ step 2"],
    ],
    [["--grep", "step", "-i", "--tail", "1"], ["step 2"]],
    [["--regex", "^[a-z]+$"], ["begin"]],
    [
      ["--since", "1h", "--rank", "1"],
      ["warning: slow", "step 2"],
    ],
    [["--tail", "1"], ["preempted soon"]],
    [["--tail", "0"], []],
    [["--rank", "7"], []],
  ])("T29 selects with %j", async (words, expected) => {
    expect(await lines(...words)).toEqual(expected);
  });

  it("T29 finds the last lines of a rank far back in a long log", async () => {
    const long = await createRun(terminal.client, { name: "long" });
    await writeEnvelope(terminal.client, long, { log: [{ rank: 3, lines: ["one", "two", "three"] }] });
    const others = Array.from({ length: 1_000 }, (_, i) => `other ${i}`);
    for (let i = 0; i < 12; i++)
      await writeEnvelope(terminal.client, long, { log: [{ rank: 0, lines: others }] });
    const { stdout } = await cairn(["logs", "long", "--rank", "3", "--tail", "2"]);
    expect(stdout).toBe("two\nthree\n");
    expect((await cairn(["logs", "long"])).stdout.split("\n")).toHaveLength(12_004);
  });

  it("T29 refuses invalid arguments", async () => {
    expect(await cairn(["logs", "talker", "--grep", "a", "--regex", "b"])).toMatchObject({ code: 2 });
    expect(await cairn(["logs", "talker", "--since", "yesterday"])).toMatchObject({ code: 2 });
    expect(await cairn(["logs", "talker", "--regex", "("])).toMatchObject({ code: 1, stdout: "" });
    expect(await cairn(["logs", "nobody"])).toMatchObject({ code: 3 });
  });

  it("T1 gives one document with --json", async () => {
    expect((await cairn(["logs", "talker", "--json", "--rank", "1"])).json()).toMatchObject([
      { number: 2, stream: "stderr", rank: 1, origin: "process", text: "warning: slow" },
      { number: 3, text: "step 2" },
    ]);
    expect((await cairn(["logs", "talker", "--json", "--rank", "9"])).json()).toEqual([]);
  });

  it("T30 follows lines until the run ends", async () => {
    const live = await createRun(terminal.client, { name: "live" });
    await writeEnvelope(terminal.client, live, { log: [{ lines: ["before 1", "before 2"] }] });
    const following = follow(["logs", "live", "-f", "--tail", "1"], terminal.server.url);
    await expect.poll(() => following.stdout).toBe("before 2\n");
    await writeEnvelope(terminal.client, live, { log: [{ lines: ["after"] }] });
    await expect.poll(() => following.stdout).toBe("before 2\nafter\n");
    await writeEnvelope(terminal.client, live, { log: [{ lines: ["last"] }], status: RunStatus.FINISHED });
    expect(await following.ended).toBe(0);
    expect(following.stdout).toBe("before 2\nafter\nlast\n");
  });

  it("T30 follows only what --grep selects, and Ctrl-C ends it with 130", async () => {
    const live = await createRun(terminal.client, { name: "choosy" });
    await writeEnvelope(terminal.client, live, { log: [{ lines: ["loss 1", "noise"] }] });
    const following = follow(["logs", "choosy", "-f", "--grep", "LOSS", "-i"], terminal.server.url);
    await expect.poll(() => following.stdout).toBe("loss 1\n");
    await writeEnvelope(terminal.client, live, { log: [{ lines: ["noise", "Loss 2"] }] });
    await expect.poll(() => following.stdout).toBe("loss 1\nLoss 2\n");
    following.interrupt();
    expect(await following.ended).toBe(130);
  });
});

describe("cairn logs over a restart", () => {
  const data = mkdtempSync(join(tmpdir(), "cairn-logs-"));
  let server: ChildServer;
  beforeAll(async () => {
    server = await startChild(["--data", data]);
  });
  afterAll(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
    await rm(data, { recursive: true, force: true });
  });

  it("T30 resumes without a gap and without a repeated line", async () => {
    // The address stays, though every server has a port of its own.
    const proxy = await CuttableProxy.open(server.url);
    const client = new Cairn({ url: proxy.url });
    const run = await createRun(client, { name: "survivor" });
    let written = 0;
    const write = async (count: number, status: RunStatus = RunStatus.UNSPECIFIED) => {
      const lines = Array.from({ length: count }, () => `line ${written++}`);
      await writeEnvelope(client, run, { log: [{ lines }], status });
    };
    const expected = () => Array.from({ length: written }, (_, i) => `line ${i}\n`).join("");
    await write(50);
    const following = follow(["logs", "survivor", "-f"], proxy.url);
    await expect.poll(() => following.stdout).toBe(expected());
    for (let restart = 0; restart < 3; restart++) {
      await write(20);
      server.child.kill("SIGKILL");
      await server.exited;
      server = await startChild(["--data", data]);
      proxy.retarget(server.url);
      await write(20);
      await expect.poll(() => following.stdout).toBe(expected());
    }
    await write(5, RunStatus.FINISHED);
    expect(await following.ended).toBe(0);
    expect(following.stdout).toBe(expected());
    expect(following.stderr).toMatch(/^cairn: connection lost .*\n(?:.*\n)*cairn: reconnected\n$/);
    await proxy.cut();
  });
});
