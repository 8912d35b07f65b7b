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
import { asNpmStart, Paired } from "./measure.ts";

const QUOTA_PER_SECOND = 200;
const HOSTILE_PER_SECOND = 10 * QUOTA_PER_SECOND;
const LOAD_MS = 20_000;
/** A slow machine measures longer, so that it has as many samples. */
const ROUNDS_MIN = 250;
const WINDOW_MS = 4_000;
const FACTOR_MAX = 1.5;
/** A flood takes a processor's time; what matters is that nobody waits behind it. */
const SLACK_MS = { p50: 10, p99: 50 };
/** gRPC's RESOURCE_EXHAUSTED. */
const EXHAUSTED = "8";

interface Subject extends Clients {
  url: string;
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
  const server = await startChild(argv, { env: asNpmStart() });
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
  return { ...clients, url: server.url, runId: run!.id, hostileToken: tokens.get("hostile")! };
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

  const paired = new Paired(WINDOW_MS);
  const write = (subject: Subject) => () =>
    subject.metrics.writeEnvelope({ run: { id: subject.runId }, series: [{ key: "good", values: [1] }] });
  const endMs = performance.now() + LOAD_MS;
  for (let round = 0; performance.now() < endMs || round < ROUNDS_MIN; round++) {
    const pair = [() => paired.time("plain", write(control)), () => paired.time("loaded", write(victim))];
    if (round % 2 === 1) pair.reverse();
    for (const one of pair) await one();
    // The good one stays well below its own quota.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const accepted = counts["0"] ?? 0;
  const refused = counts[EXHAUSTED] ?? 0;
  const seconds = (performance.now() - startMs) / 1000;
  const { samples } = paired.summary(0.99);
  const said = [0.5, 0.99].map((share) => {
    const { plainMs, loadedMs, ratio } = paired.summary(share);
    return `p${share * 100} ${plainMs.toFixed(1)} ms alone, ${loadedMs.toFixed(1)} ms beside it (×${ratio.toFixed(2)})`;
  });
  console.log(
    `${samples} samples: ${said.join(", ")}; in ${seconds.toFixed(0)} s ${accepted} accepted, ${refused} refused`,
  );
  expect(accepted).toBeLessThanOrEqual(QUOTA_PER_SECOND * (seconds + 1));
  expect(accepted).toBeGreaterThan(QUOTA_PER_SECOND * 5);
  expect(refused).toBeGreaterThan(accepted);
  expect(Object.keys(counts).toSorted()).toEqual(["0", EXHAUSTED]);
  expect(samples).toBeGreaterThan(200);
  expect(paired.isBreached(0.5, FACTOR_MAX, SLACK_MS.p50)).toBe(false);
  expect(paired.isBreached(0.99, FACTOR_MAX, SLACK_MS.p99)).toBe(false);
});
