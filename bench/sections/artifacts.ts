import { once } from "node:events";
import { closeSync, fsyncSync, openSync, readSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { request, Agent, type IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Bench } from "../main.ts";
import { quantile } from "../report.ts";
import { startServer, type BenchServer } from "../server.ts";

const MIB = 1 << 20;
const SMALL_FILES = 200;
const SENDERS = 4;

const rate = (value: number) => `${Math.round(value)} MiB/s`;

/** Files in and out through HTTP, against copying the same bytes to a file with fsync. */
export async function benchArtifacts({ report, directory, scale }: Bench): Promise<void> {
  const largeMib = Math.max(256, 1024 * scale);
  const source = join(directory, "source");
  writeLarge(source, largeMib);
  const copyLarge = seconds(() => copySynced(source, join(directory, "copy"), 1));
  const server = await startServer(join(directory, "data"));
  const run = await newRun(server);
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
  const call = (method: string, name: string) =>
    request(`${server.url}/artifacts/${run}/${name}`, { method, agent });
  const upload = async (name: string, mib: number) => {
    const out = call("PUT", name);
    const block = Buffer.alloc(MIB, name);
    for (let i = 0; i < mib; i++) {
      block.writeUInt32LE(i);
      if (!out.write(Buffer.from(block))) await once(out, "drain");
    }
    out.end();
    await finish(out, 201);
  };
  const download = async (name: string) => {
    const out = call("GET", name);
    out.end();
    await finish(out, 200);
  };

  await upload("warm", 16);
  await download("warm");
  let before = server.cpuSeconds();
  const sentSeconds = await secondsOf(() => upload("large", largeMib));
  let cpu = server.cpuSeconds() - before;
  report.add({
    what: `upload of ${largeMib} MiB`,
    value: largeMib / sentSeconds,
    format: rate,
    better: "higher",
    notes: `${(largeMib / cpu).toFixed(0)} MiB per CPU-second; plain copy with fsync ${rate(largeMib / copyLarge)}`,
  });
  before = server.cpuSeconds();
  const gotSeconds = await secondsOf(() => download("large"));
  cpu = server.cpuSeconds() - before;
  report.add({
    what: `download of ${largeMib} MiB`,
    value: largeMib / gotSeconds,
    format: rate,
    better: "higher",
    notes: `${(largeMib / cpu).toFixed(0)} MiB per CPU-second`,
  });

  writeLarge(source, 1);
  const copySmall = seconds(() => copySynced(source, join(directory, "copy"), SMALL_FILES));
  const latencies: number[] = [];
  let next = 0;
  const smallSeconds = await secondsOf(async () => {
    await Promise.all(
      Array.from({ length: SENDERS }, async () => {
        while (next < SMALL_FILES) {
          const name = `small-${next++}`;
          latencies.push(await secondsOf(() => upload(name, 1)));
        }
      }),
    );
  });
  report.add({
    what: `uploads of 1 MiB, ${SENDERS} at once`,
    value: SMALL_FILES / smallSeconds,
    format: (value) => `${Math.round(value)} /s`,
    better: "higher",
    notes: `p50 ${(quantile(latencies, 0.5) * 1000).toFixed(0)} ms, p99 ${(quantile(latencies, 0.99) * 1000).toFixed(0)} ms; plain copies with fsync ${Math.round(SMALL_FILES / copySmall)} /s`,
  });
  agent.destroy();
  await server.stop();
}

async function newRun({ url }: BenchServer): Promise<string> {
  const answer = await fetch(`${url}/cairn.v1.RunService/CreateRun`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"namespace":"bench"}',
  });
  return ((await answer.json()) as { run: { id: string } }).run.id;
}

async function finish(out: ReturnType<typeof request>, status: number): Promise<void> {
  const [response] = (await once(out, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  if (response.statusCode !== status) throw new Error(`the server answered ${response.statusCode}`);
}

function writeLarge(file: string, mib: number): void {
  const block = Buffer.alloc(MIB, "bench");
  writeFileSync(file, "");
  const handle = openSync(file, "a");
  for (let i = 0; i < mib; i++) writeSync(handle, block);
  closeSync(handle);
}

function copySynced(from: string, to: string, times: number): void {
  const block = Buffer.alloc(MIB);
  for (let i = 0; i < times; i++) {
    const [source, target] = [openSync(from, "r"), openSync(`${to}-${i}`, "w")];
    for (let read = readSync(source, block); read > 0; read = readSync(source, block)) {
      writeSync(target, block, 0, read);
    }
    fsyncSync(target);
    closeSync(source);
    closeSync(target);
    rmSync(`${to}-${i}`);
  }
}

function seconds(work: () => void): number {
  const began = performance.now();
  work();
  return (performance.now() - began) / 1000;
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}
