import { cpSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { ROOT } from "../../../tools/sources.ts";
import { torchxNightly } from "../../../tools/needs.ts";
import { installPackage, python, runPython, runPythonTests, type PythonOptions } from "../python.ts";

let folder: string;
let server: ChildServer;
let release: PythonOptions;
let nightly: PythonOptions;

beforeAll(async () => {
  folder = makeFolder();
  server = await startChild(["--data", join(folder, "data")]);
  const installed = installPackage(folder);
  release = { url: server.url, path: [installed] };
  nightly = { url: server.url, path: [torchxNightly, installed] };
});

afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.exited;
  rmSync(folder, { recursive: true });
});

const CASES = ["tests.test_torchx", "tests.test_torchx_bad"];

describe("the tracker of TorchX", () => {
  it("Y20, Y21 passes the cases of the contract, driven by AppRun of the release", () =>
    runPythonTests(CASES, release));

  it("Y20, Y21 passes them with a nightly build, found as a namespace package", async () => {
    await runPythonTests(CASES, { ...nightly, env: { TORCHX_PLUGINS_SOURCE: "1" } });
    const program = [
      "from torchx import plugins",
      "registry = plugins.registry()",
      "factory = registry.get(plugins.PluginType.TRACKER)['cairn']",
      "print(factory.__module__, registry.load_errors(plugins.PluginType.TRACKER))",
    ].join("\n");
    const alone = await runPython(["-c", program], {
      ...nightly,
      env: { TORCHX_PLUGINS_SOURCE: "1" },
      cwd: folder,
    });
    expect(alone.output).toBe("torchx_plugins.tracker.cairn []\n");
    // With both ways on, the two must not complain about each other.
    const both = await runPython(["-c", program], { ...nightly, cwd: folder });
    expect(both.output).toMatch(/ \[\]\n$/);
    expect(both.output).not.toContain("registered via both");
  });

  it("Y22 the result tracker is one of TorchX", () => runPythonTests(["tests.test_results"], release));

  it.each(["release", "nightly"])(
    "Y23 tracks an unmodified job that torchx runs, and torchx lists it (%s)",
    async (which) => {
      const options = which === "release" ? release : nightly;
      const work = join(folder, `job-${which}`);
      const namespace = `examples/${which}`;
      cpSync(join(ROOT, "examples", "torchx_ddp"), work, { recursive: true });
      writeFileSync(
        join(work, ".torchxconfig"),
        `[torchx:tracker]\ncairn=anything\n[tracker:cairn]\nconfig=${server.url}/${namespace}\n`,
      );
      // A job is started by the name of its interpreter.
      const path = [dirname(python()), process.env["PATH"]].join(delimiter);
      const env = {
        PATH: path,
        HOME: folder,
        CAIRN_SPOOL: join(folder, "spool"),
        TORCHX_PARENT_RUN_ID: "wandb:sweep-7",
      };
      const torchx = (...args: string[]) =>
        runPython(["-m", "torchx.cli.main", ...args], { ...options, env, cwd: work, timeoutMs: 120_000 });
      const launched = await torchx(
        "run",
        "-s",
        "local_cwd",
        "utils.python",
        "--script",
        "train.py",
        "--",
        "--lr",
        "0.2",
      );
      const handle = /local_cwd:\/\/torchx\/\S+/.exec(launched.output)?.[0];
      expect(launched.status, launched.output).toBe(0);
      expect(handle, launched.output).toBeDefined();

      const lines = (output: string): string[] =>
        output.split("\n").filter((line) => !/ INFO | WARNING /.test(line));
      const jobs = lines((await torchx("tracker", "list", "jobs")).output);
      expect(jobs.map((line) => line.trim()).slice(0, 3)).toEqual([
        "JOB ID",
        expect.stringMatching(/^-+$/),
        handle,
      ]);
      const children = (await torchx("tracker", "list", "jobs", "--parent-run-id", "wandb:sweep-7")).output;
      expect(children).toContain(handle);
      const metadata = lines((await torchx("tracker", "list", "metadata", handle!)).output).join("\n");
      expect(metadata).toMatch(/^ID +VALUE$/m);
      expect(metadata).toMatch(/^lr +0\.2$/m);
      expect(metadata).toMatch(/^epochs +20$/m);
      const artifacts = (await torchx("tracker", "list", "artifacts", handle!)).output;
      expect(artifacts).toMatch(/^checkpoint +s3:\/\/models\/\S+\/last\.pt +\{'loss': 0\.\d+\}$/m);
      const unknown = lines((await torchx("tracker", "list", "metadata", "nobody")).output).join("\n");
      expect(unknown.trim().split("\n")).toHaveLength(2);

      const answer = await fetch(`${server.url}/cairn.v1.RunService/SearchRuns`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          namespace,
          columns: ["metrics.train/loss.count"],
          query: 'status = "finished"',
        }),
      });
      const { runs } = (await answer.json()) as { runs: { metrics: Record<string, number> }[] };
      expect(runs).toMatchObject([{ metrics: { "train/loss.count": 20 } }]);
      expect(dirname(work)).toBe(folder);
    },
  );
});
