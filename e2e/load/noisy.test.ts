import { fork } from "node:child_process";
import { create, toBinary } from "@bufbuild/protobuf";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, it, onTestFinished } from "vitest";
import { AccessService, PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { startChild } from "#server/testing/child.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import type { HammerCounts, HammerStart } from "./hammer.ts";
import { dose } from "../../tools/dose.ts";
import { asNpmStart, cpuMs, objections, Paired } from "./measure.ts";

const QUOTA_PER_SECOND = dose(40, 200);
const HOSTILE_PER_SECOND = 10 * QUOTA_PER_SECOND;
/** Of each round that is measured. */
const ROUND_MS = dose(4_000, 20_000);
/** A slow machine measures longer, so that it has as many samples. */
const SAMPLES_MIN = 60;
/** The good one stays well below its own quota. */
const PAUSE_MS = 2_000 / QUOTA_PER_SECOND;
const FACTOR_MAX = 1.5;
/** A flood takes a processor's time; what matters is that others do not wait behind it. */
const SLACK_MS = 10;
/** What an answer to the hostile one may cost at most, in writes of the good one. */
const COST_MAX = 1;
/** gRPC's RESOURCE_EXHAUSTED. */
const EXHAUSTED = "8";

interface Subject extends Clients {
  url: string;
  pid: number;
  runId: string;
  hostileToken: string;
}

function bearing(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}

/** A server where two users may write: one that is good and one that is not. */
async function startSubject(): Promise<Subject> {
  const argv = ["--data", "memory:", "--auth", "--quota-requests-per-second", String(QUOTA_PER_SECOND)];
  const server = await startChild(argv, asNpmStart());
  onTestFinished(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
  });
  await expect.poll(() => server.greeting.join("\n")).toContain("Admin token");
  const adminToken = /Admin token[^:]*: (\S+)/.exec(server.greeting.join("\n"))![1]!;
  const transport = (token: string) =>
    createGrpcTransport({ baseUrl: server.url, interceptors: [bearing(token)] });
  const access = createClient(AccessService, transport(adminToken));
  const tokens = new Map<string, string>();
  for (const name of ["good", "hostile"]) {
    await access.createPrincipal({ name, kind: PrincipalKind.USER });
    await access.bindRole({ principal: name, scope: { namespace: "" }, role: Role.WRITER });
    tokens.set(name, (await access.createToken({ principal: name, name: "load" })).secret);
  }
  const clients = clientsOf(transport(tokens.get("good")!));
  const { run } = await clients.runs.createRun({ namespace: "load" });
  return {
    ...clients,
    url: server.url,
    pid: server.child.pid!,
    runId: run!.id,
    hostileToken: tokens.get("hostile")!,
  };
}

function envelopeOf(runId: string): Buffer {
  const envelope = create(EnvelopeSchema, { run: { id: runId }, series: [{ key: "noise", values: [1] }] });
  return Buffer.from(toBinary(EnvelopeSchema, envelope));
}

it("K1, S24 one principal at ten times its quota gets no more than it, and does not slow down others", async () => {
  const control = await startSubject();
  const victim = await startSubject();
  let counts: HammerCounts = {};
  const hammer = fork(new URL("hammer.ts", import.meta.url), { execArgv: [] });
  onTestFinished(() => void hammer.kill("SIGKILL"));
  hammer.on("message", (said) => (counts = said as HammerCounts));
  const start: HammerStart = {
    url: victim.url,
    token: victim.hostileToken,
    message: envelopeOf(victim.runId).toString("hex"),
    perSecond: HOSTILE_PER_SECOND,
  };
  const startMs = performance.now();
  hammer.send(start);
  await expect.poll(() => counts[EXHAUSTED] ?? 0).toBeGreaterThan(0);

  const answers = () => Object.values(counts).reduce((sum, count) => sum + count, 0);
  const before = { answers: answers(), control: cpuMs(control.pid), victim: cpuMs(victim.pid) };
  let samples = 0;
  const write = (subject: Subject) => () =>
    subject.metrics.writeEnvelope({ run: { id: subject.runId }, series: [{ key: "good", values: [1] }] });
  const slow = await objections(async () => {
    const paired = new Paired();
    const endMs = performance.now() + ROUND_MS;
    while (performance.now() < endMs || paired.samples < SAMPLES_MIN) {
      await paired.time(write(control), write(victim));
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    console.log(paired.toString());
    samples += paired.samples;
    return paired.objection(FACTOR_MAX, SLACK_MS);
  });
  const controlMs = cpuMs(control.pid) - before.control;
  const hostileMs = (cpuMs(victim.pid) - before.victim - controlMs) / (answers() - before.answers);
  const goodMs = controlMs / samples;
  const accepted = counts["0"] ?? 0;
  const refused = counts[EXHAUSTED] ?? 0;
  const seconds = (performance.now() - startMs) / 1000;
  console.log(
    `in ${seconds.toFixed(0)} s ${accepted} accepted, ${refused} refused; processor time of one ${hostileMs.toFixed(2)} ms, of a good one ${goodMs.toFixed(2)} ms`,
  );
  expect(accepted).toBeLessThanOrEqual(QUOTA_PER_SECOND * (seconds + 1));
  expect(accepted).toBeGreaterThan(QUOTA_PER_SECOND);
  expect(refused).toBeGreaterThan(accepted);
  expect(Object.keys(counts).toSorted()).toEqual(["0", EXHAUSTED]);
  expect(hostileMs).toBeLessThan(COST_MAX * goodMs);
  expect(slow).toEqual([]);
});
