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

/** What the command line of TorchX prints for each of these; loading it takes longer than its answers. */
async function torchxInOneProcess(
  commands: readonly (readonly string[])[],
  options: PythonOptions & { cwd: string },
): Promise<string[]> {
  const program = [
    "import json, sys",
    "from torchx.cli.main import main",
    "for words in json.loads(sys.argv[1]):",
    "    main(words)",
    "    print('-- end of answer', flush=True)",
  ].join("\n");
  const { status, output } = await runPython(["-c", program, JSON.stringify(commands)], options);
  expect(status, output).toBe(0);
  return output.split("-- end of answer\n").slice(0, commands.length);
}

const CASES = ["tests.test_torchx", "tests.test_torchx_bad"];
const JOB_CASES = ["tests.test_torchx_job"];

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

  it("Y205, Y206 records the job it runs in, and leaves no run running", async () => {
    await runPythonTests(JOB_CASES, release);
    await runPythonTests(JOB_CASES, { ...nightly, env: { TORCHX_PLUGINS_SOURCE: "1" } });
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
      const run = ["run", "-s", "local_cwd", "utils.python", "--script", "train.py", "--", "--lr", "0.2"];
      const launched = await runPython(["-m", "torchx.cli.main", ...run], { ...options, env, cwd: work });
      const handle = /local_cwd:\/\/torchx\/\S+/.exec(launched.output)?.[0];
      expect(launched.status, launched.output).toBe(0);
      expect(handle, launched.output).toBeDefined();

      const list = (...args: string[]) => ["tracker", "list", ...args];
      const [jobs, children, metadata, artifacts, unknown] = (
        await torchxInOneProcess(
          [
            list("jobs"),
            list("jobs", "--parent-run-id", "wandb:sweep-7"),
            list("metadata", handle!),
            list("artifacts", handle!),
            list("metadata", "unknown"),
          ],
          { ...options, env, cwd: work },
        )
      ).map((output) => output.split("\n").filter((line) => !/ INFO | WARNING /.test(line)));
      expect(jobs!.map((line) => line.trim()).slice(0, 3)).toEqual([
        "JOB ID",
        expect.stringMatching(/^-+$/),
        handle,
      ]);
      expect(children!.join("\n")).toContain(handle);
      expect(metadata!.join("\n")).toMatch(/^ID +VALUE$/m);
      expect(metadata!.join("\n")).toMatch(/^lr +0\.2$/m);
      expect(metadata!.join("\n")).toMatch(/^epochs +20$/m);
      expect(artifacts!.join("\n")).toMatch(
        /^checkpoint +s3:\/\/models\/\S+\/last\.pt +\{'loss': 0\.\d+\}$/m,
      );
      expect(unknown!.join("\n").trim().split("\n")).toHaveLength(2);

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
      const asked = await fetch(`${server.url}/cairn.v1.RunService/GetRun`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ run: { alias: handle, namespace } }),
      });
      const { provenance } = (await asked.json()) as { provenance: { command: string[]; user: string } };
      expect(provenance.command.join(" ")).toMatch(/train.*--lr 0\.2$/);
      expect(provenance.user).not.toBe("");
      expect(dirname(work)).toBe(folder);
    },
  );
});
