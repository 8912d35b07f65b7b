import { describe, expect, it } from "vitest";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { CuttableProxy } from "../../cuttable-proxy.ts";
import { useTerminal } from "../../cli/testing/cairn.ts";
import { createRun, writeEnvelope } from "../../cli/testing/sample-runs.ts";
import { openPythonCairn, useHome } from "./python-cairn.ts";

describe("cairn logs -f of the Python package", () => {
  const terminal = useTerminal();
  const home = useHome();

  function follow(words: readonly string[], url: string) {
    const child = openPythonCairn(["logs", ...words], { env: { HOME: home, CAIRN_SERVER: url } });
    const seen = { stdout: "", stderr: "" };
    child.stdout!.setEncoding("utf8").on("data", (text: string) => (seen.stdout += text));
    child.stderr!.setEncoding("utf8").on("data", (text: string) => (seen.stderr += text));
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    return { child, seen, ended };
  }

  it("T225 prints lines as they arrive, across a lost connection, and ends with the run", async () => {
    const proxy = await CuttableProxy.open(terminal.server.url);
    const run = await createRun(terminal.client, { name: "followed" });
    const write = (...lines: string[]) => writeEnvelope(terminal.client, run, { log: [{ lines }] });
    await write("one");
    const { seen, ended } = follow(["followed", "-f"], proxy.url);
    await expect.poll(() => seen.stdout).toBe("one\n");
    await write("two");
    await expect.poll(() => seen.stdout).toBe("one\ntwo\n");
    await proxy.cut();
    await expect.poll(() => seen.stderr).toContain("connection lost");
    await write("three");
    await proxy.restore();
    await expect.poll(() => seen.stdout).toBe("one\ntwo\nthree\n");
    await writeEnvelope(terminal.client, run, { log: [{ lines: ["four"] }], status: RunStatus.FINISHED });
    expect(await ended).toBe(0);
    expect(seen.stdout).toBe("one\ntwo\nthree\nfour\n");
    expect(seen.stderr).toContain("cairn: reconnected");
    await proxy.cut();
  });

  it("T225 selects the same lines while it follows, as documents with --json", async () => {
    const run = await createRun(terminal.client, { name: "selected" });
    await writeEnvelope(terminal.client, run, { log: [{ lines: ["Error: 1", "fine"] }] });
    const { seen, ended } = follow(
      ["selected", "-f", "--json", "--regex", "^error", "-i"],
      terminal.server.url,
    );
    await expect.poll(() => seen.stdout).toContain("Error: 1");
    await writeEnvelope(terminal.client, run, {
      log: [{ lines: ["fine", "ERROR: 2"] }],
      status: RunStatus.FAILED,
    });
    expect(await ended).toBe(0);
    const texts = seen.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { text: string }).text);
    expect(texts).toEqual(["Error: 1", "ERROR: 2"]);
  });

  it("T225 Ctrl-C ends it with 130 and without a traceback", async () => {
    const run = await createRun(terminal.client, { name: "endless" });
    await writeEnvelope(terminal.client, run, { log: [{ lines: ["begun"] }] });
    const { child, seen, ended } = follow(["endless", "-f"], terminal.server.url);
    await expect.poll(() => seen.stdout).toBe("begun\n");
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(seen.stderr).toBe("");
  });

  it("T225 says that a run has no lines", async () => {
    const run = await createRun(terminal.client, { name: "silent" });
    const { seen, ended } = follow(["silent"], terminal.server.url);
    expect(await ended).toBe(0);
    expect(seen).toEqual({ stdout: "", stderr: `silent (${run.id.slice(0, 16)}) has no log lines\n` });
    const json = follow(["silent", "--json"], terminal.server.url);
    expect(await json.ended).toBe(0);
    expect(json.seen).toEqual({ stdout: "[]\n", stderr: "" });
  });
});
