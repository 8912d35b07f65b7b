import { cpSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { ROOT } from "../../../tools/sources.ts";
import { torchPythonCommand } from "../../../tools/needs.ts";
import { installPackage, runPython, runPythonTests } from "../python.ts";

const command = torchPythonCommand();

let folder: string;
let server: ChildServer;

beforeAll(async () => {
  folder = makeFolder();
  server = await startChild(["--data", join(folder, "data")]);
});

afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.exited;
  rmSync(folder, { recursive: true });
});

describe("with torch", () => {
  it("Y24, Y207 tracks the metrics of torchmetrics as series and pictures", () =>
    runPythonTests(["tests.test_torchmetrics"], {
      command,
      url: server.url,
      path: [installPackage(folder)],
    }));

  it("Y25 tracks a dist.ddp job that torchx runs, in the namespace of its experiment, with a label per rank", async () => {
    const work = join(folder, "job");
    cpSync(join(ROOT, "examples", "torchx_ddp"), work, { recursive: true });
    writeFileSync(
      join(work, ".torchxconfig"),
      `[torchx:tracker]\ncairn=\n[tracker:cairn]\nconfig=${server.url}/ddp\n`,
    );
    const env = {
      HOME: folder,
      CAIRN_SPOOL: join(folder, "spool"),
      // dist.ddp starts `torchrun` by its name.
      PATH: [dirname(command), process.env["PATH"]].join(delimiter),
    };
    const options = { command, path: [installPackage(folder)], env, cwd: work, timeoutMs: 200_000 };
    const torchx = (...args: string[]) => runPython(["-m", "torchx.cli.main", ...args], options);
    const launched = await torchx(
      "run",
      "-s",
      "local_cwd",
      "dist.ddp",
      "-j",
      "1x2",
      "--name",
      "speech/first",
      "--script",
      "train.py",
    );
    expect(launched.status, launched.output).toBe(0);
    const handle = /local_cwd:\/\/torchx\/\S+/.exec(launched.output)?.[0] ?? "";
    // The launcher does not know the experiment, and finds the run all the same.
    expect((await torchx("tracker", "list", "jobs")).output).toContain(handle);
    expect((await torchx("tracker", "list", "metadata", handle)).output).toMatch(/^epochs +20$/m);
    const call = async (method: string, body: unknown): Promise<Record<string, unknown>> => {
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await (await fetch(`${server.url}/cairn.v1.${method}`, init)).json()) as Record<
        string,
        unknown
      >;
    };
    const run = await call("RunService/GetRun", { run: { alias: handle } });
    expect(run).toMatchObject({ namespace: "ddp/speech", status: "RUN_STATUS_FINISHED" });
    const { series } = (await call("MetricService/ListSeries", {
      run: { alias: handle },
      glob: "train/*",
    })) as {
      series: { labels: Record<string, string> }[];
    };
    expect(new Set(series.map(({ labels }) => labels["rank"]))).toEqual(new Set(["0", "1"]));
  });
});
