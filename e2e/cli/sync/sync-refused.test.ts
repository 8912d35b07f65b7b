import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { DescribeKeyRequestSchema } from "#proto/cairn/v1/key_pb.ts";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { FRAME_KIND, type Frame } from "#sdk/spool/frame.ts";
import { ownerOf, writeOwner } from "#sdk/spool/owner.ts";
import { setAside } from "#sdk/spool/set-aside.ts";
import { readNumbers, startJob } from "../../sdk/job.ts";
import { useTerminal, type RunOptions } from "../testing/cairn.ts";

const WRITER = "ab".repeat(16);

describe("cairn sync of what was refused, or has no server", () => {
  const terminal = useTerminal(["--data", "memory:", "--auth"]);
  const spool = (name: string) => join(terminal.home, name);
  let writer = "";

  beforeAll(async () => {
    const { access, namespaces } = terminal.client;
    await namespaces.createNamespace({ path: "team" });
    await access.createPrincipal({ name: "job", kind: PrincipalKind.SERVICE });
    await access.bindRole({ principal: "job", role: Role.WRITER, scope: { namespace: "team" } });
    writer = (await access.createToken({ principal: "job", name: "job" })).secret;
  });

  const cairn = (words: readonly string[], options: RunOptions = {}) =>
    terminal.cairn(words, { ...options, env: { CAIRN_TOKEN: writer, ...options.env } });

  /** A job without any server that logs, describes a metric, and leaves all of it in its spool. */
  async function leave(name: string, unit = "nats"): Promise<void> {
    const job = startJob(
      `const run = await cairn.init({ namespace: "team", name: "${name}", alias: "${name}",
         spool: ${JSON.stringify(spool(name))}, capture: false, offline: true });
       run.log({ loss: 0.5 });
       run.describe("loss", { unit: "${unit}" });
       await run.finish("finished");`,
      { env: { HOME: spool("nobody") } },
    );
    expect(await job.exited, job.stderr()).toMatchObject({ code: 0 });
  }

  it("T259 delivers what jobs without any server left to the server of the environment, and says so before", async () => {
    await leave("homeless");
    const dry = await cairn(["sync", spool("homeless"), "--dry-run"]);
    expect(dry.stdout).toMatch(new RegExp(`^homeless: \\d frames for ${terminal.server.url}\\n$`));
    const named = ["sync", spool("homeless"), "--server", "127.0.0.1:1", "--dry-run"];
    expect((await cairn(named, { env: { CAIRN_SERVER: "" } })).stdout).toContain("for http://127.0.0.1:1\n");
    const { stdout } = await cairn(["sync", spool("homeless")]);
    expect(stdout).toContain("delivered");
    const run = await terminal.client.runs.getRun({ run: { alias: "homeless" } });
    expect(run.status).toBe(RunStatus.FINISHED);
    expect((await readNumbers(terminal.client, run.id, "loss")).values).toEqual([0.5]);
  });

  /** As a delivery keeps a frame; its process has ended. */
  function refuse(folder: string, frame: Frame, refusal: { what: string; run: string }): void {
    const { url } = terminal.server;
    mkdirSync(folder, { recursive: true });
    writeOwner(folder, { ...ownerOf(WRITER, { server: url }, "test", 1), pid: 2 ** 22 + 1, pidStart: "1" });
    setAside(folder, frame, { why: "permission denied", server: url, ...refusal });
  }

  it("T260 names what was refused with the reason and what to do, each time", async () => {
    await leave("refused", "x".repeat(1_000));
    for (const code of [1, 0]) {
      const ended = await cairn(["sync", spool("refused")]);
      expect(ended.code).toBe(code);
      expect(ended.stdout).toMatch(/delivered, (\d file uploaded, )?1 frame refused\n$/);
      expect(ended.stderr).toContain('  the description of key "loss": cannot accept unit');
      expect(ended.stderr).toContain(`\`cairn sync ${spool("refused")} --retry\` sends it again`);
    }
    const retried = await cairn(["sync", spool("refused"), "--retry"]);
    expect(retried).toMatchObject({ code: 1, stdout: "0 frames sent\n" });
    expect(retried.stderr).toContain('the description of key "loss": cannot accept unit');
  });

  it("T260 sends what was refused again when the reason is gone", async () => {
    const folder = join(spool("denied"), WRITER);
    const request = create(DescribeKeyRequestSchema, {
      description: { namespace: "other", key: "loss", unit: "nats" },
    });
    const body = Buffer.from(toBinary(DescribeKeyRequestSchema, request));
    refuse(folder, { kind: FRAME_KIND.describe, seq: 0, body }, { what: "the description", run: "" });
    const { access, metrics, namespaces } = terminal.client;
    await namespaces.createNamespace({ path: "other" });
    const retry = ["sync", spool("denied"), "--retry"];
    const still = await cairn(retry);
    expect(still).toMatchObject({ code: 1, stdout: "0 frames sent\n" });
    expect(still.stderr).toContain("permission");
    await access.bindRole({ principal: "job", role: Role.WRITER, scope: { namespace: "other" } });
    expect(await cairn(retry)).toMatchObject({ code: 0, stdout: "1 frame sent\n", stderr: "" });
    const { keys } = await metrics.listKeys({ namespace: "other" });
    expect(keys).toMatchObject([{ key: "loss", unit: "nats" }]);
    expect(readdirSync(spool("denied"))).toEqual([]);
    expect(await cairn(retry)).toMatchObject({ code: 0, stdout: "nothing was refused\n" });
  });

  it("T260 stores a refused envelope once, however often it is sent, and does not start its run again", async () => {
    const { client } = terminal;
    const { run } = await client.runs.createRun({ namespace: "team", name: "late" });
    await client.runs.updateRun({ run: { id: run!.id }, status: RunStatus.FINISHED });
    const envelope = create(EnvelopeSchema, {
      writer: WRITER,
      seq: 7n,
      series: [{ key: "acc", steps: [1n], values: [0.9] }],
      status: RunStatus.RUNNING,
      log: [{ lines: ["late"], timesUs: [1n] }],
    });
    const folder = join(spool("late"), WRITER);
    for (const _ of [1, 2]) {
      const frame = {
        kind: FRAME_KIND.envelope,
        seq: 7,
        body: Buffer.from(toBinary(EnvelopeSchema, envelope)),
      };
      refuse(folder, frame, { what: "envelope 7", run: run!.id });
      const sent = await cairn(["sync", folder, "--retry", "--json"]);
      expect(sent.json()).toMatchObject({ sent: [{ what: "envelope 7" }], kept: [] });
    }
    expect((await readNumbers(client, run!.id, "acc")).values).toEqual([0.9]);
    expect((await client.logs.readLog({ run: { id: run!.id } })).lines).toHaveLength(1);
    expect((await client.runs.getRun({ run: { id: run!.id } })).status).toBe(RunStatus.FINISHED);
    expect(existsSync(folder)).toBe(false);
  });

  it("T260 deletes what was refused on request, and nothing else; doctor names both ways", async () => {
    await leave("given-up", "x".repeat(1_000));
    await cairn(["sync", spool("given-up")]);
    const doctor = await cairn(["doctor", "--json"], { env: { CAIRN_SPOOL: spool("given-up") } });
    const found = (doctor.json() as { check: string; text: string; fix: string }[]).find(
      ({ check }) => check === "spool",
    );
    expect(found).toMatchObject({ level: "warn" });
    expect(found?.text).toContain("1 frame that a server refused");
    expect(found?.fix).toContain("cairn sync --discard");
    const both = await cairn(["sync", "--retry", "--discard"]);
    expect(both).toMatchObject({ code: 2 });
    const { stdout, code } = await cairn(["sync", spool("given-up"), "--discard"]);
    expect(code).toBe(0);
    expect(stdout).toContain('discarded the description of key "loss"');
    expect(readdirSync(spool("given-up"))).toEqual([]);
    expect((await cairn(["sync", spool("given-up"), "--discard"])).stdout).toBe("nothing to discard\n");
  });
});
