import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import { readNumbers } from "../sdk/job.ts";
import { useTerminal } from "./testing/cairn.ts";

describe("cairn log", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;
  const get = (alias: string) => terminal.client.runs.getRun({ run: { alias } });

  it("T257 states provenance of a new and of an existing run, adds data, and clears fields first", async () => {
    const data = ["--training-data", "s3://data/c4@v3", "--training-data", "s3://data/wiki"];
    const begin = [
      "--initial-state",
      "hf://bert@sha256:0a1b",
      "--feature-pipeline",
      "git@example.org:f.git@4f2a91c",
    ];
    const words = ["log", "stated", "--create", "-n", "team/ci", "loss=0.5", "--study", "ablation"];
    const made = await cairn([...words, ...data, ...begin]);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const run = await get("stated");
    expect(made.stdout).toBe(`${run.id}: 1 point, step 0, 4 fields of provenance\n`);
    expect(run.provenance).toMatchObject({
      trainingData: ["s3://data/c4@v3", "s3://data/wiki"],
      initialState: "hf://bert@sha256:0a1b",
      featurePipeline: "git@example.org:f.git@4f2a91c",
      study: "ablation",
    });
    const more = ["--training-data", "s3://data/wiki", "--test-data", "s3://data/dev", "--study", "final"];
    const added = await cairn(["log", "stated", ...more, "--logs-location", "https://logs.example.org/7"]);
    expect(added.stdout).toBe(`${run.id}: 4 fields of provenance\n`);
    expect((await get("stated")).provenance).toMatchObject({
      trainingData: ["s3://data/c4@v3", "s3://data/wiki"],
      testData: ["s3://data/dev"],
      study: "final",
      logsLocation: "https://logs.example.org/7",
    });
    const clear = ["--clear", "training-data", "--clear", "study", "--training-data", "s3://data/c4@v4"];
    expect((await cairn(["log", "stated", ...clear, "--json"])).json()).toMatchObject({
      runId: run.id,
      points: 0,
      provenance: 3,
    });
    expect((await get("stated")).provenance).toMatchObject({
      trainingData: ["s3://data/c4@v4"],
      testData: ["s3://data/dev"],
      study: "",
    });
  });

  it("T257 refuses to clear an unknown field, and names the fields", async () => {
    const { code, stderr } = await cairn(["log", "stated", "--clear", "loss"]);
    expect(code).toBe(2);
    expect(stderr).toContain("must be one of training-data, test-data, initial-state");
  });

  it("C13 makes a run, and writes metrics, params, tags, lines and its end", async () => {
    const made = await cairn([
      "log",
      "nightly",
      "--create",
      "-n",
      "team/ci",
      "--param",
      "lr=1.0",
      "--param",
      "name=adam",
      "--tag",
      "a=b=c",
    ]);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const words = [
      "log",
      "nightly",
      "loss=0.5",
      "ok=true",
      "note=x y",
      "bad=nan",
      "--step",
      "10",
      "--label",
      "host=n1",
    ];
    const { stdout, code } = await cairn([...words, "--line", "one", "--line", "two"]);
    expect(code).toBe(0);
    const run = await get("nightly");
    expect(stdout).toBe(`${run.id}: 4 points, step 10\n`);
    expect(run).toMatchObject({
      namespace: "team/ci",
      name: "nightly",
      params: { lr: "1.0", name: '"adam"' },
      tags: { a: "b=c" },
      status: RunStatus.RUNNING,
    });
    const { series } = await terminal.client.metrics.listSeries({ run: { id: run.id } });
    expect(
      series.map(({ key, kind, labels, summary }) => [key, kind, labels["host"], summary?.last?.step]),
    ).toEqual([
      ["bad", SeriesKind.NUMBER, "n1", 10n],
      ["loss", SeriesKind.NUMBER, "n1", 10n],
      ["note", SeriesKind.TEXT, "n1", 10n],
      ["ok", SeriesKind.BOOL, "n1", 10n],
    ]);
    const { lines } = await terminal.client.logs.readLog({ run: { id: run.id } });
    expect(lines.map(({ text }) => text)).toEqual(["one", "two"]);
    expect(await cairn(["log", "nightly", "--status", "finished"])).toMatchObject({ code: 0 });
    expect(await get("nightly")).toMatchObject({ status: RunStatus.FINISHED });
  });

  it("C13 without a step it continues after the last, and calls do not replace points of each other", async () => {
    await cairn(["log", "steps", "--create", "a=1"]);
    await cairn(["log", "steps", "a=2", "b=1"]);
    const third = await cairn(["log", "steps", "a=3", "--json"]);
    expect(third.json()).toMatchObject({ points: 1, step: 2 });
    await cairn(["log", "steps", "a=0", "--step", "0"]);
    const { id } = await get("steps");
    expect((await readNumbers(terminal.client, id, "a")).steps).toEqual([0, 0, 1, 2]);
    expect((await readNumbers(terminal.client, id, "b")).steps).toEqual([1]);
  });

  it("C13, C40: reads metrics from a pipe as Katib does, and prints every line", async () => {
    await cairn(["log", "piped", "--create", "--tag", "x=y"]);
    const stdin = [
      "starting",
      "connecting with password: hunter2",
      "2024-03-01T10:00:00.5Z epoch 1: accuracy=0.5, loss = 1e-1",
      "accuracy=0.75 loss=.25",
      "broken= accuracy=abc",
      "x|y=3 val-acc=+2",
      "",
    ].join("\n");
    const { code, stdout, stderr } = await cairn(["log", "piped", "--katib-style"], { stdin });
    expect(code, stderr).toBe(0);
    expect(stdout).toBe(stdin);
    const { id, status } = await get("piped");
    expect(status).toBe(RunStatus.RUNNING);
    const { client } = terminal;
    expect(await readNumbers(client, id, "accuracy")).toEqual({ steps: [0, 1], values: [0.5, 0.75] });
    expect(await readNumbers(client, id, "loss")).toEqual({ steps: [0, 1], values: [0.1, 0.25] });
    expect((await readNumbers(client, id, "val-acc")).values).toEqual([2]);
    expect((await readNumbers(client, id, "x|y")).values).toEqual([3]);
    const { series } = await client.metrics.readSeries({ series: [{ run: { id }, key: "accuracy" }] });
    expect(new Float64Array(series[0]!.timesUs!.bytes.slice().buffer)[0]).toBe(1_709_287_200_500_000);
    const { lines } = await client.logs.readLog({ run: { id } });
    expect(lines.map(({ text }) => text)).toEqual([
      "starting",
      "connecting with password: [redacted]",
      "broken= accuracy=abc",
    ]);
    expect(readdirSync(join(terminal.home, ".local/state/cairn/spool"))).toEqual([]);
  });

  it("N7 C50 a pipe counts as console where that is forbidden, an explicit line does not", async () => {
    const { client } = terminal;
    await client.namespaces.createNamespace({ path: "strict" });
    await client.namespaces.updateNamespace({ path: "strict", forbidConsole: true });
    await cairn(["log", "forbidden", "--create", "-n", "strict", "--line", "given"]);
    const stdin = "starting\nloss=0.5\nsecret\n";
    const piped = await cairn(["log", "forbidden", "--katib-style"], { stdin });
    expect(piped).toMatchObject({ code: 0, stdout: stdin });
    expect(piped.stderr).toContain(
      "Left out 2 lines without a metric: the namespace forbids console capture.",
    );
    const { id } = await get("forbidden");
    expect((await readNumbers(client, id, "loss")).values).toEqual([0.5]);
    const { lines } = await client.logs.readLog({ run: { id } });
    expect(lines.map(({ text }) => text)).toEqual(["given"]);
  });

  it("C13 a pipe with a status ends the run, and with a filter takes only matching metrics", async () => {
    await cairn(["log", "ended", "--create", "--tag", "x=y"]);
    const words = [
      "log",
      "ended",
      "--katib-style",
      "--filter",
      String.raw`(\w+): (\S+)`,
      "--status",
      "failed",
      "--json",
    ];
    const { code, json } = await cairn(words, { stdin: "loss: 4 acc=1\n" });
    expect(code).toBe(0);
    expect(json()).toMatchObject({ points: 1, lines: 0, delivered: true });
    const run = await get("ended");
    expect(run.status).toBe(RunStatus.FAILED);
    expect((await readNumbers(terminal.client, run.id, "loss")).values).toEqual([4]);
  });

  it.each<[string, string[], number, string]>([
    ["no such run", ["log", "nowhere-at-all", "a=1"], 3, "nowhere-at-all"],
    ["no value", ["log", "steps", "a"], 2, 'cannot read metric "a": expected name=value'],
    ["no step", ["log", "steps", "a=1", "--step", "x"], 2, 'cannot use step "x"'],
    ["nothing", ["log", "steps"], 2, "cannot log: nothing given"],
    ["a filter without groups", ["log", "steps", "--katib-style", "--filter", "x"], 2, "cannot use filter"],
    ["a kind that differs", ["log", "steps", "a=text"], 1, "a"],
  ])("C13, T2: %s is an error that says so", async (_, words, exitCode, message) => {
    const { code, stderr } = await cairn(words);
    expect(stderr).toContain(message);
    expect(code).toBe(exitCode);
  });

  it("C13 without a server it reports no success", async () => {
    const { code, stderr } = await cairn(["log", "steps", "a=1", "--server", "127.0.0.1:1"]);
    expect(code).toBe(5);
    expect(stderr).toContain("cannot reach");
  });
});
