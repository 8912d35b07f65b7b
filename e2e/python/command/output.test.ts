import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { fillDemo } from "#cli/demo/fill-demo.ts";
import { SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import { RunStatus, TrackedChanges } from "#proto/cairn/v1/run_pb.ts";
import { useTerminal } from "../../cli/testing/cairn.ts";
import type { Ended } from "../../cli/testing/start-cairn.ts";
import { createRun, writeEnvelope } from "../../cli/testing/sample-runs.ts";
import { PACKAGE, python as pythonProgram } from "../python.ts";
import { pythonCairn } from "./python-cairn.ts";

describe("the command in Python beside the whole command line", () => {
  const terminal = useTerminal();
  const both = async (...words: string[]): Promise<[python: Ended, whole: Ended]> => {
    const env = { HOME: terminal.home, CAIRN_SERVER: terminal.server.url };
    return [await pythonCairn(words, { env }), await terminal.cairn(words, { env })];
  };

  beforeAll(async () => {
    await fillDemo(terminal.client, { scale: "small" });
    const run = await createRun(terminal.client, {
      name: "hostile \u001b[31m\u202e name",
      namespace: "odd",
      aliases: ["the-odd-one"],
      notes: "=1+1\nsecond line",
      tags: { "=cmd": "-2+3", plain: "; =x" },
      provenance: {
        initialState: `s3://models/base@sha256:${"0a".repeat(32)}`,
        trainingData: ["s3://c4@v3", "hf://squad"],
        testData: ["s3://dev"],
        featurePipeline: "git@example.org:team/features.git@4f2a91c",
        study: "sizes",
        logsLocation: "s3://logs/1",
        user: "ada",
        command: ["python", "train.py", "--name", "a b"],
        code: {
          commit: "1f0c2a91b3de77aa00112233445566778899aabb",
          branch: "main",
          dirtyPatch: "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-a\n+b\n",
          trackedChanges: TrackedChanges.SOME,
          untrackedFiles: 3,
          patchLeftOut: "it is larger than 1 MiB",
          leftOutBytes: 2_202_009n,
        },
        environment: {
          host: "n1",
          "gpu.0": "H100",
          "gpu.1": "H100",
          "note:code": "a later process ran c0ffee",
        },
      },
      params: {
        "a.b": "1",
        a: '{"b":2,"c":[1,2.50,{"d":"x"}],"e":[]}',
        wide: '"中文 é 👍"',
        looks: '"1"',
        nothing: "null",
        big: "9007199254740993",
        nan: "NaN",
      },
    });
    await writeEnvelope(terminal.client, run, {
      writer: "w",
      seq: 1n,
      status: RunStatus.FINISHED,
      series: [
        { key: "loss", steps: [0n, 1n, 2n], values: [3, Number.NaN, 1e-7] },
        { key: "per rank", labels: { rank: "0" }, values: [0.000_012_345, 12_345.678] },
        { key: "per rank", labels: { rank: "1" }, values: [1e300, -1] },
        { key: "count", kind: SeriesKind.INTEGER, integers: [1n, 9_007_199_254_740_993n] },
        { key: "ok", kind: SeriesKind.BOOL, bools: [true, false] },
        { key: "system/cpu", values: [50] },
      ],
      log: [
        { rank: 0, lines: [" 10 %\r100 %", "\u001b[32mgreen\u001b[0m"] },
        { rank: 11, stream: "stderr", lines: ["Error: \u0007 bell"] },
      ],
    });
  });

  it.each([
    [["ls"]],
    [["ls", "-n", "demo/speech", "--limit", "5", 'status = "finished" order by metrics.val/wer.min']],
    [
      [
        "ls",
        "--columns",
        'name,params.a.c,params."a".b,tags."=cmd",metrics.loss.min,notes,duration',
        "-n",
        "odd",
      ],
    ],
    [["ls", "--sort", "metrics.val/wer.min,started:desc", "--limit", "4"]],
    [["ls", "--csv"]],
    [["ls", "--csv", "-n", "odd"]],
    [["ls", 'name = "none"']],
    [["ls", "--trash"]],
    [["ls", "--mine", "--limit", "3"]],
    [["ls", 'study != "x" and host != "y" or study = "x"', "-n", "odd"]],
    [["show", "the-odd-one", "--provenance"]],
    [["show", "wav2vec-distilled", "--params"]],
    [["show", "wav2vec-distilled", "--metrics", "val/**"]],
    [["show", "the-odd-one", "--metrics", "**"]],
    [["show", "the-odd-one", "--params"]],
    [["logs", "mt-de-en-restarted", "--tail", "20", "--timestamps"]],
    [["logs", "mt-de-en-restarted", "--grep", "error", "-i"]],
    [["logs", "the-odd-one"]],
    [["logs", "the-odd-one", "--raw"]],
    [["logs", "the-odd-one", "--rank", "11", "--stream", "stderr"]],
    [["verify", "wav2vec-distilled", "the-odd-one"]],
    [["verify", "--all"]],
    [["login", "--list"]],
  ])("T221 %j prints the same", async (words) => {
    const [python, whole] = await both(...words);
    expect(settled(python.stdout)).toBe(settled(whole.stdout));
    expect(settled(python.stderr)).toBe(settled(whole.stderr));
    expect(python.code).toBe(whole.code);
    expect(python.code).toBe(0);
  });

  it.each([
    [["ls", "--json"]],
    [["ls", "--json", "--columns", "name,metrics.val/wer.min,params.lr", "--limit", "7"]],
    [["logs", "mt-de-en-restarted", "--json", "--rank", "0"]],
    [["logs", "the-odd-one", "--json", "--grep", "nothing like it"]],
    [["verify", "--query", 'status = "failed"', "--json"]],
    [["login", "--list", "--json"]],
  ])("T221 %j gives the same document", async (words) => {
    const [python, whole] = await both(...words);
    expect(python.json()).toEqual(whole.json());
    expect([python.code, python.stderr]).toEqual([whole.code, whole.stderr]);
  });

  it("T221 shows a run with its parts as the whole command line does", async () => {
    for (const name of ["wav2vec-distilled", "the-odd-one", "mt-de-en-restarted"]) {
      const [python, whole] = await both("show", name);
      expect(settled(python.stdout)).toBe(settled(whole.stdout));
      const [ours, theirs] = (await both("show", name, "--json")).map((ended) => ended.json());
      expect(ours).toMatchObject(withoutEmpty(theirs) as object);
    }
  });

  it.each([
    [["ls", 'params.lr > 0.1 adn status = "failed"'], 1],
    [["ls", "-n", "no/such"], 3],
    [["ls", "--bogus"], 2],
    [["ls", "--sort", "name", "order by name"], 2],
    [["show"], 2],
    [["show", "wav2vec-bsae"], 3],
    [["show", "wav2vec"], 3],
    [["logs", "the-odd-one", "--grep", "a", "--regex", "b"], 2],
    [["verify"], 2],
    [["verify", "--all", "the-odd-one"], 2],
    [["bogus"], 2],
    [["shwo"], 2],
    [["sync", "/no/such/folder"], 3],
    [["login", "--forget", "http://none.example"], 3],
    [["login", "--token", "secret"], 2],
    [["show", "wav2vec-bsae", "--json"], 3],
  ])("T222 %j fails with the same words and exit code", async (words, code) => {
    const [python, whole] = await both(...words);
    expect([python.code, whole.code]).toEqual([code, code]);
    expect(python.stdout).toBe(whole.stdout);
    expect(python.stderr).toBe(whole.stderr);
  });

  it.each([
    [["ls", "--limit", "none"]],
    [["logs", "x", "--since", "soon"]],
    [["logs", "x", "--origin", "y"]],
  ])("T222 %j names the option and the value", async (words) => {
    const { code, stdout, stderr } = await pythonCairn(words, { env: { HOME: terminal.home } });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(new RegExp(`^cairn: .*${words.at(-2)}.*\n`));
    expect(stderr).toContain("--help");
  });

  it("T222 says which server cannot be reached, and how to log in where a token is needed", async () => {
    const env = { HOME: terminal.home, CAIRN_SERVER: "127.0.0.1:1" };
    const away = await pythonCairn(["ls"], { env });
    expect(away).toMatchObject({ code: 5, stdout: "" });
    expect(away.stderr).toContain("cairn: cannot reach http://127.0.0.1:1");
    const json = await pythonCairn(["ls", "--json"], { env });
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { exitCode: 5 } });
  });

  it("T223 has help with examples for every command, and says what needs the server package", async () => {
    const env = { HOME: terminal.home };
    const overview = await pythonCairn([], { env });
    expect(overview.code).toBe(0);
    for (const name of ["ls", "show", "logs", "sync", "verify", "login", "doctor", "version"]) {
      expect(overview.stdout).toContain(`\n  ${name} `);
      const help = await pythonCairn([name, "--help"], { env });
      expect([help.code, help.stderr]).toEqual([0, ""]);
      expect(help.stdout).toContain(`usage: cairn ${name}`);
      expect(help.stdout).toContain(`Examples:\n  cairn ${name}`);
    }
    for (const name of ["serve", "plot", "access"]) {
      const refused = await pythonCairn([name, "--port", "0"], { env });
      expect(refused.code).toBe(1);
      expect(refused.stderr).toBe(`cairn: \`cairn ${name}\` needs pip install "cairn-tracker[server]"\n`);
    }
  });

  it("T221 a closed pipe is not an error", async () => {
    const line = `${pythonProgram()} -m cairn ls --csv | head -1`;
    const env = { PATH: process.env["PATH"], PYTHONPATH: PACKAGE, CAIRN_SERVER: terminal.server.url };
    const ended = await promisify(execFile)("sh", ["-c", line], { env });
    expect(ended.stderr).toBe("");
    expect(ended.stdout).toMatch(/^id,name/);
  });
});

/** Without what changes from one second to the next. */
function settled(text: string): string {
  return text
    .replaceAll(/\b(?:now|\d+[smh] ago)\b/g, "AGO")
    .replaceAll(/ +(?:now|AGO|\d+[sm])(?= )/g, " AGE")
    .replaceAll(/, for [\dhms ]+/g, ", for A WHILE")
    .replaceAll(/ +$/gm, "");
}

/** The whole command line may say that something is not there, or say more. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, one]) => one !== "" && one !== null);
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutEmpty(one)]));
}
