import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ArtifactKind } from "#proto/cairn/v1/artifact_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { fillDemo } from "#cli/demo/fill-demo.ts";
import { Cairn } from "#sdk/client.ts";
import type { Server } from "#server/serve.ts";
import { startServer } from "#server/testing/servers.ts";
import { useTerminal } from "./testing/cairn.ts";
import { CuttableProxy } from "../cuttable-proxy.ts";
import { dumpNamespace } from "./testing/dump-namespace.ts";
import { START } from "./testing/start-cairn.ts";

const SMALL = { scale: "small", seed: 7 } as const;

describe("cairn demo", () => {
  const terminal = useTerminal();
  let other: Server;
  let otherClient: Cairn;
  let ids: ReadonlyMap<string, string>;

  beforeAll(async () => {
    other = await startServer();
    otherClient = new Cairn({ url: other.listening.url });
    ids = (await fillDemo(terminal.client, SMALL)).ids;
  });
  afterAll(() => other.close());

  const run = (key: string) => ({ id: ids.get(key)! });

  it("T52, T54: makes the same runs on another server, also after an interruption there", async () => {
    // The tenth envelope never arrives: its run is there, and is not complete.
    let envelopes = 0;
    const proxy = await CuttableProxy.open(
      other.listening.url,
      (bytes) => bytes.includes("MetricService/WriteEnvelope") && ++envelopes === 10,
    );
    await expect(fillDemo(new Cairn({ url: proxy.url }), SMALL)).rejects.toThrow();
    const unfinished = await otherClient.runs.searchRuns({ namespace: "demo", query: 'status = "running"' });
    expect(unfinished.totalCount).toBeGreaterThan(0n);
    const part = await dumpNamespace(otherClient, "demo");
    await fillDemo(otherClient, SMALL);
    const whole = await dumpNamespace(terminal.client, "demo");
    expect(part).not.toEqual(whole);
    expect(await dumpNamespace(otherClient, "demo")).toEqual(whole);
  });

  it("T54 adds nothing when it runs again", async () => {
    const before = await dumpNamespace(terminal.client, "demo");
    const again = await fillDemo(terminal.client, SMALL);
    expect([again.written, again.points]).toEqual([0, 0]);
    expect(await dumpNamespace(terminal.client, "demo")).toEqual(before);
  });

  it("T53 has a straggler among eight ranks", async () => {
    const { series } = await terminal.client.metrics.listSeries({
      run: run("distributed"),
      glob: "perf/step_seconds",
    });
    const seconds = series.map(({ labels, summary }) => [Number(labels["rank"]), summary!.mean!] as const);
    expect(seconds).toHaveLength(8);
    const [slowest, second] = seconds.toSorted((a, b) => b[1] - a[1]);
    expect(slowest![0]).toBe(5);
    expect(slowest![1]).toBeGreaterThan(1.2 * second![1]);
  });

  it("T53 has a restart that replaced points, NaN bursts, and one spike", async () => {
    const lossOf = async (key: string) =>
      (await terminal.client.metrics.listSeries({ run: run(key), glob: "train/loss" })).series[0]!.summary!;
    expect((await lossOf("restarted")).replacedCount).toBe(40n);
    expect((await lossOf("bursts")).nanCount).toBe(42n);
    const spike = await lossOf("spike");
    expect([spike.count, spike.max!.step, spike.max!.value]).toEqual([5_000n, 3_090n, 11.7]);
  });

  it("T53 has media of every kind, a traceback, and models", async () => {
    const { artifacts } = await terminal.client.artifacts.listArtifacts({ run: run("unet-wide") });
    const kinds = new Set(artifacts.map(({ kind }) => kind));
    const wanted = [
      ArtifactKind.IMAGE,
      ArtifactKind.TABLE,
      ArtifactKind.CURVE,
      ArtifactKind.HISTOGRAM,
      ArtifactKind.MODEL,
    ];
    expect(kinds).toEqual(new Set(wanted));
    const image = await terminal.client.fetch(
      `/artifacts/${ids.get("unet-wide")}/samples/masks.png?step=399`,
    );
    expect(Buffer.from(await image.arrayBuffer()).toString("latin1", 1, 4)).toBe("PNG");
    const voice = await terminal.client.artifacts.listArtifacts({
      run: run("finetune-960"),
      kind: ArtifactKind.AUDIO,
    });
    expect(voice.artifacts).toHaveLength(3);
    const { runs } = await terminal.client.runs.searchRuns({ namespace: "demo", query: 'status = "failed"' });
    const { lines } = await terminal.client.logs.searchLog({ run: { id: runs[0]!.id }, text: "Traceback" });
    expect(lines).toHaveLength(1);
  });

  it("T53 has a lineage over four generations and a closed namespace", async () => {
    const { nodes } = await terminal.client.lineage.getLineage({ run: run("distil"), depth: 10 });
    const byDistance = nodes
      .filter(({ runId }) => runId !== "")
      .map(({ name, distance }) => [name, distance]);
    expect(byDistance).toContainEqual(["wav2vec-finetune-960h", -1]);
    expect(byDistance).toContainEqual(["wav2vec-pretrain", -2]);
    expect(byDistance).toContainEqual(["corpus-v3", -3]);
    const scope = await terminal.client.access.getScope({
      scope: { namespace: "demo/translation/confidential" },
    });
    expect(scope.closed).toBe(true);
    const { objective } = await terminal.client.namespaces.getNamespace({ path: "demo/speech" });
    expect(objective!.metric).toBe("val/wer");
  });

  it("T53 names commands that work", async () => {
    const ended = await terminal.cairn(["demo", "--once", "--scale", "small", "--seed", "7", "--json"]);
    const { next, runs, written } = ended.json() as {
      next: { command: string }[];
      runs: number;
      written: number;
    };
    expect([runs, written]).toEqual([ids.size, 0]);
    for (const { command } of next) {
      // A shell cuts the line into words, as it would for a person who copies it.
      const line = execFileSync("sh", ["-c", command.replace(/^cairn/, String.raw`printf '%s\0'`)]);
      const { code, stdout, stderr } = await terminal.cairn(line.toString().split("\0").slice(0, -1));
      expect({ command, code, stderr }).toMatchObject({ command, code: 0 });
      expect(stdout.length + stderr.length).toBeGreaterThan(20);
    }
  });

  it("T55 logs live until Ctrl-C, and continues where it stopped", async () => {
    const start = () =>
      spawn(process.execPath, [START, "demo", "--scale", "small", "--seed", "7", "-n", "demo"], {
        env: { PATH: process.env["PATH"], HOME: terminal.home, CAIRN_SERVER: terminal.server.url },
        stdio: "ignore",
      });
    const running = async () =>
      Number(
        (await terminal.client.runs.searchRuns({ namespace: "demo", query: 'status = "running"' }))
          .totalCount,
      );
    const live = { alias: "demo:7:live-2", namespace: "demo" };
    const lastStep = async () => {
      const { series } = await terminal.client.metrics.listSeries({ run: live, glob: "train/loss" });
      return Number(series[0]?.summary?.last?.step ?? -1);
    };
    const first = start();
    await expect.poll(running).toBe(3);
    await expect.poll(lastStep).toBeGreaterThan(1_000);
    const begun = await lastStep();
    await expect.poll(lastStep).toBeGreaterThan(begun);
    first.kill("SIGINT");
    expect(await once(first, "exit")).toEqual([130, null]);
    expect(await running()).toBe(0);
    expect((await terminal.client.runs.getRun({ run: live })).status).toBe(RunStatus.KILLED);
    const stopped = await lastStep();

    const second = start();
    await expect.poll(running).toBe(3);
    await expect.poll(lastStep).toBeGreaterThan(stopped);
    second.kill("SIGTERM");
    await once(second, "exit");
    expect(await running()).toBe(0);
    const { verdict } = await terminal.client.system.verifyRun({ run: live });
    expect(verdict).toContain("0 gaps");
    const { series } = await terminal.client.metrics.listSeries({ run: live, glob: "train/loss" });
    expect(series[0]!.summary!.count).toBe(BigInt(await lastStep()) + 1n);
    expect(series[0]!.summary!.replacedCount).toBe(0n);
  });
});
