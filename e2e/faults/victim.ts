import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { expect } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { cpuMs } from "../load/measure.ts";
import { FLOOD, fileOf } from "./content.ts";
import { Granter } from "./granter.ts";
import { Spectator } from "./spectator.ts";
import { Uploader } from "./uploader.ts";
import { Writer } from "./writer.ts";
import { WriterCheck } from "./writer-check.ts";

const PAGE = 10_000;

/** A data folder with all its writers, over many servers that are killed. */
export class Victim {
  readonly folder = makeFolder();
  /** Processor time that each server took until it was ready. */
  readonly readyCpuMs: number[] = [];
  #readyMs = 0;
  readonly #writers: WriterCheck[] = [];
  readonly #uploaders: Uploader[] = [];
  /** Files of each uploader that were read back. */
  readonly #checkedFiles = new Map<Uploader, number>();
  /** Lines of each run by number, as they were read back. */
  readonly #lines = new Map<string, string[]>();
  readonly #granter = new Granter();
  #spectator: Spectator | undefined;
  #server: ChildServer | undefined;
  #transport: Transport | undefined;

  async start(): Promise<Clients> {
    this.#server = await startChild(["--data", this.folder]);
    this.#readyMs = this.#server.readyMs;
    this.readyCpuMs.push(cpuMs(this.#server.child.pid!));
    this.#transport = createGrpcTransport({ baseUrl: this.#server.url });
    const clients = clientsOf(this.#transport);
    await this.#spectator?.follow(clients);
    return clients;
  }

  async prepare(clients: Clients): Promise<void> {
    const { runs } = clients;
    for (const alias of ["one", "two"]) {
      const { run } = await runs.createRun({ namespace: "faults/kill", aliases: [alias] });
      const { id } = run!;
      this.#lines.set(id, []);
      this.#writers.push(
        new WriterCheck(new Writer(id, `${alias}-a`)),
        new WriterCheck(new Writer(id, `${alias}-b`)),
        new WriterCheck(new Writer(id, `${alias}-s`, { window: 8 })),
        new WriterCheck(new Writer(id, `${alias}-m`, { batch: 5 })),
      );
      this.#uploaders.push(new Uploader(id, `files-${alias}`));
    }
    const flood = new Writer(this.#writers[0]!.writer.runId, FLOOD);
    this.#writers.push(new WriterCheck(flood));
    // Nearly as much as the log holds before it is folded, so that the folding falls into the trials.
    await flood.writeSome(this.#transport!, 12);
    await this.#granter.prepare(this.#transport!);
    this.#spectator = new Spectator(
      "faults/kill",
      this.#writers.filter(({ writer }) => writer !== flood),
    );
    await this.#spectator.follow(clients);
  }

  /** Writes until the server is killed, `delayMs` after it has acknowledged something of the kind `first`. */
  async writeAndKill(
    delayMs: number,
    { flood, first }: { flood: boolean; first: "envelope" | "file" | "grant" },
  ): Promise<void> {
    const { url } = this.#server!;
    const grpc = this.#transport!;
    const connect = createConnectTransport({ baseUrl: url, httpVersion: "1.1", useBinaryFormat: true });
    const begun = Promise.withResolvers<void>();
    const onAck = (kind: typeof first) => () => {
      if (kind === first) begun.resolve();
    };
    const writing = this.#writers
      .filter(({ writer }) => flood || writer.name !== FLOOD)
      .map(({ writer, stored }) => {
        const transport = writer.name.endsWith("-b") ? connect : grpc;
        return writer.write(transport, stored, onAck("envelope"));
      });
    writing.push(...this.#uploaders.map((uploader) => uploader.write(url, onAck("file"))));
    writing.push(this.#granter.write(connect, onAck("grant")));
    // A writer that the server has lied to ends before it is killed.
    await Promise.race([begun.promise, Promise.all(writing)]);
    await after(delayMs);
    await this.kill();
    await Promise.all(writing);
  }

  async kill(): Promise<void> {
    this.#server!.child.kill("SIGKILL");
    await this.#server!.exited;
    await this.#spectator?.left();
  }

  /** Ends a server before it is ready, or at that moment: after this share of the time that the last one took. */
  async killWhileStarting(share: number): Promise<void> {
    const delayMs = share * this.#readyMs;
    const starting = startChild(["--data", this.folder], {
      onSpawn: (child) => setTimeout(() => child.kill("SIGKILL"), delayMs),
    });
    const server = await starting.catch(() => undefined);
    await server?.exited;
  }

  /**
   * Everything acknowledged is there once and bit for bit; other writes are there as a whole or not at all.
   * `thorough` also reads earlier data again.
   */
  async check(clients: Clients, thorough: boolean): Promise<void> {
    const { runs, system } = clients;
    for (const runId of this.#lines.keys()) {
      const verified = await system.verifyRun({ run: { id: runId } });
      expect(verified.problems).toEqual([]);
      expect(verified.verdict).toContain(", 0 gaps");
      const { params } = await runs.getRun({ run: { id: runId } });
      const own = this.#writers.filter(({ writer }) => writer.runId === runId);
      const expectedParams: Record<string, string> = {};
      let points = 0;
      for (const check of own) {
        points += await check.run(clients, verified);
        Object.assign(expectedParams, check.params());
      }
      expect(params).toEqual(expectedParams);
      expect(Number(verified.points)).toBe(points);
      await this.#checkLines(clients, runId, own, thorough);
    }
    await this.#spectator!.check(clients, this.#lines);
    for (const uploader of this.#uploaders) await this.#checkFiles(clients, uploader, thorough);
    expect(await this.#granter.check(this.#transport!)).toBeUndefined();
    const found = await runs.searchRuns({ namespace: "faults/kill" });
    expect(found.totalCount).toBe(2n);
    if (thorough) expect(await system.checkIntegrity({})).toMatchObject({ ok: true, problems: [] });
  }

  /** The lines of each writer are there in their order, once, and those read before are where they were. */
  async #checkLines(
    { logs }: Clients,
    runId: string,
    own: readonly WriterCheck[],
    thorough: boolean,
  ): Promise<void> {
    const known = this.#lines.get(runId)!;
    const read: string[] = [];
    const from = thorough ? 0 : known.length;
    for (let more = true; more;) {
      const page = await logs.readLog({ run: { id: runId }, from: BigInt(from + read.length), limit: PAGE });
      expect(page.lines.map(({ number }) => Number(number))).toEqual(
        page.lines.map((_, i) => from + read.length + i),
      );
      read.push(...page.lines.map(({ text }) => text));
      more = page.more;
    }
    if (thorough) expect(read.slice(0, known.length)).toEqual(known);
    known.push(...read.slice(known.length - from));
    const byWriter = Map.groupBy(known, (text) => text.slice(0, text.indexOf(" ")));
    for (const { writer, lines } of own) expect(byWriter.get(writer.name) ?? []).toEqual(lines);
  }

  async #checkFiles({ artifacts }: Clients, uploader: Uploader, thorough: boolean): Promise<void> {
    const { runId, name } = uploader;
    const listed = await artifacts.listArtifacts({ run: { id: runId }, prefix: `${name}/`, pageSize: PAGE });
    const found = new Map(listed.artifacts.map((one) => [one.name, [one.sha256, Number(one.sizeBytes)]]));
    const last = found.has(uploader.fileName(uploader.begun)) ? uploader.begun : uploader.acknowledged;
    const checked = this.#checkedFiles.get(uploader) ?? 0;
    for (let n = 1; n <= last; n++) {
      const file = uploader.fileName(n);
      if (!thorough && n <= checked) {
        expect(found.has(file), file).toBe(true);
        continue;
      }
      const content = fileOf(file);
      const digest = createHash("sha256").update(content).digest("hex");
      expect(found.get(file), file).toEqual([digest, content.length]);
      const response = await fetch(`${this.#server!.url}/artifacts/${runId}/${file}`);
      const body = Buffer.from(await response.arrayBuffer());
      expect([response.status, body.equals(content)], file).toEqual([200, true]);
    }
    expect(found.size, name).toBe(last);
    this.#checkedFiles.set(uploader, last);
  }

  get acknowledged(): { envelopes: number; files: number; grants: number } {
    const sum = (all: readonly { acknowledged: number }[]) =>
      all.reduce((total, one) => total + one.acknowledged, 0);
    return {
      envelopes: sum(this.#writers.map(({ writer }) => writer)),
      files: sum(this.#uploaders),
      grants: this.#granter.acknowledged,
    };
  }

  /** Points that a watcher got after a restart, and had not got before. */
  get resumed(): number {
    return this.#spectator?.resumed ?? 0;
  }

  get points(): number {
    return this.#writers.reduce((sum, check) => sum + check.points, 0);
  }

  get lines(): number {
    return [...this.#lines.values()].reduce((sum, { length }) => sum + length, 0);
  }

  async remove(): Promise<void> {
    this.#server?.child.kill("SIGKILL");
    await this.#server?.exited;
    rmSync(this.folder, { recursive: true });
  }
}
