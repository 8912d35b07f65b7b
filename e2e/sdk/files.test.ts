import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket, connect as connectTcp } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ArtifactKind, ArtifactPlace } from "#proto/cairn/v1/artifact_pb.ts";
import { Cairn } from "#sdk/client.ts";
import { init } from "#sdk/run/init.ts";
import type { InitOptions } from "#sdk/run/init-options.ts";
import { sync } from "#sdk/sync.ts";
import { readNumbers, useWorld } from "./job.ts";

const world = useWorld();
const folder = mkdtempSync(join(tmpdir(), "cairn-files-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const notices: string[] = [];

function begin(options: InitOptions = {}) {
  notices.length = 0;
  return init({
    server: world.server.url,
    spool: world.spool,
    capture: false,
    handleExit: false,
    backoff: { firstMs: 10, mostMs: 100 },
    onNotice: (text) => notices.push(text),
    ...options,
  });
}

function write(name: string, content: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const sha256 = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");

async function artifactsOf(runId: string) {
  const { artifacts } = await world.client.artifacts.listArtifacts({ run: { id: runId } });
  return artifacts;
}

describe("files of a run", () => {
  it("C250 the media type of a model does not depend on the machine", async () => {
    const run = await begin();
    for (const name of ["model.pt", "model.pth", "last.ckpt", "model.safetensors"]) {
      await run.artifact(name, write(name, randomBytes(8)));
      await run.media(`media/${name}`, join(folder, name));
      await run.artifact(`large/${name}`, write(`large-${name}`, randomBytes((256 << 10) + 1)));
    }
    await run.finish();
    const types = new Set((await artifactsOf(run.id!)).map(({ mediaType }) => mediaType));
    expect([...types]).toEqual(["application/octet-stream"]);
  });

  it("C14 small and large ones arrive byte by byte, and locations are noted", async () => {
    const small = randomBytes(256 << 10);
    const large = randomBytes((256 << 10) + 1);
    const huge = randomBytes(20 << 20);
    const progress: number[] = [];
    const run = await begin({ onUploadProgress: (_, sentBytes) => progress.push(sentBytes) });
    run.log({ a: 1 }, { step: 7 });
    await run.artifact("small.bin", write("small.bin", small), { acc: 0.5, ü: "ß" });
    await run.artifact(
      "ünï/large.pt",
      write("large.pt", large),
      { ü: ["ß", NaN] },
      { kind: "model", step: 3 },
    );
    await run.artifact("huge.bin", write("huge.bin", huge));
    await run.artifact("elsewhere", "s3://models/7", { size: 1n });
    await run.media("picture", write("p.png", small));
    await run.media("picture-2", large, { step: 9, mediaType: "image/png", metadata: { caption: "x" } });
    expect(await run.finish()).toMatchObject({ delivered: true, refused: 0 });
    const found = await artifactsOf(run.id!);
    expect(found).toMatchObject([
      { name: "elsewhere", uri: "s3://models/7", place: ArtifactPlace.REFERENCE, metadata: { size: "1" } },
      { name: "huge.bin", sha256: sha256(huge), sizeBytes: BigInt(huge.length) },
      { name: "picture", step: 7n, kind: ArtifactKind.IMAGE, mediaType: "image/png", sha256: sha256(small) },
      {
        name: "picture-2",
        step: 9n,
        kind: ArtifactKind.IMAGE,
        mediaType: "image/png",
        sha256: sha256(large),
        metadata: { caption: '"x"' },
      },
      { name: "small.bin", sha256: sha256(small), metadata: { acc: "0.5", ü: '"ß"' } },
      {
        name: "ünï/large.pt",
        step: 3n,
        kind: ArtifactKind.MODEL,
        sha256: sha256(large),
        metadata: { ü: '["ß",NaN]' },
      },
    ]);
    expect(progress).toContain(8 << 20);
    expect(progress).toContain(huge.length);
    expect(existsSync(run.spoolFolder)).toBe(false);
    expect(notices).toEqual([]);
  });

  it("C14 a file that is deleted or replaced after it was given is still what it was", async () => {
    const first = randomBytes(300_000);
    const path = write("rotated.pt", first);
    const copied = write("copied.png", first);
    const spool = join(folder, "rotated");
    const run = await begin({ offline: true, alias: "rotated", spool });
    await run.artifact("checkpoint", path);
    await run.media("picture", copied);
    rmSync(path);
    writeFileSync(path, randomBytes(1_000));
    writeFileSync(copied, randomBytes(1_000));
    await run.finish();
    const [report] = await sync(spool, { connect: async (url) => new Cairn({ url }), evenIfAlive: true });
    expect(report).toMatchObject({ isDone: true, uploads: 2, refused: 0 });
    const { id } = await world.client.runs.getRun({ run: { alias: "rotated" } });
    expect((await artifactsOf(id)).map((artifact) => artifact.sha256)).toEqual([
      sha256(first),
      sha256(first),
    ]);
    expect(readdirSync(spool)).toEqual([]);
  });

  it("C14 an upload resumes where it was cut, and points do not wait for it", async () => {
    const content = randomBytes(40 << 20);
    const line = await cutLine(Number(new URL(world.server.url).port), 12 << 20);
    const run = await begin({ server: `http://127.0.0.1:${line.port}` });
    await run.artifact("large", write("cut.bin", content));
    run.log({ a: 1 });
    run.flush();
    await expect.poll(async () => (await readNumbers(world.client, run.id!, "a")).values).toEqual([1]);
    expect(await run.finish("finished", { deadlineMs: 60_000 })).toMatchObject({ delivered: true });
    expect(await artifactsOf(run.id!)).toMatchObject([{ sha256: sha256(content) }]);
    expect(line.cuts()).toBeGreaterThan(1);
    // Far less than all of it again for every cut.
    expect(line.passedBytes()).toBeLessThan(content.length * 2);
    line.close();
  });

  it("C14 what cannot be recorded is reported, and nothing is thrown", async () => {
    const run = await begin();
    await run.artifact("missing", join(folder, "nowhere"));
    await run.artifact("a folder", folder);
    await run.artifact("../climbs", write("x", randomBytes(3)));
    await run.artifact("too much", "s3://x", { m: "x".repeat(63 << 10), n: "y".repeat(10_000) });
    await run.artifact("bad kind", "s3://x", {}, { kind: "toy" as "file" });
    await run.media("missing", join(folder, "nowhere"));
    expect(notices.length).toBe(5);
    expect(notices[0]).toContain('cannot record artifact "missing": ENOENT');
    expect(await run.finish()).toMatchObject({ delivered: true });
    expect(await artifactsOf(run.id!)).toEqual([]);
  });

  it("C14 a file that was changed meanwhile is refused with a notice, and the rest arrives", async () => {
    const spool = join(folder, "changed");
    const run = await begin({ offline: true, alias: "changed", spool });
    const path = write("changed.pt", randomBytes(300_000));
    await run.artifact("changed", path);
    // In place: a link sees it, too.
    writeFileSync(path, randomBytes(300_000));
    run.log({ a: 1 });
    await run.finish();
    const refusals: string[] = [];
    const [report] = await sync(spool, {
      connect: async (url) => new Cairn({ url }),
      evenIfAlive: true,
      onRefused: (what, why) => refusals.push(`${what}: ${why}`),
    });
    expect(report).toMatchObject({ isDone: true, refused: 1, uploads: 0 });
    expect(refusals.length).toBe(1);
    const { id } = await world.client.runs.getRun({ run: { alias: "changed" } });
    expect((await readNumbers(world.client, id, "a")).values).toEqual([1]);
  });
});

/** A proxy to a server whose connections break after so many bytes. */
async function cutLine(port: number, everyBytes: number) {
  let cuts = 0;
  let passedBytes = 0;
  let sinceCut = 0;
  const open = new Set<Socket>();
  const server: Server = createServer((near) => {
    const far = connectTcp(port, "127.0.0.1");
    open.add(near).add(far);
    const end = () => {
      near.destroy();
      far.destroy();
    };
    near.on("error", end).on("close", end);
    far.on("error", end).on("close", end);
    far.pipe(near);
    near.on("data", (piece: Buffer) => {
      passedBytes += piece.length;
      sinceCut += piece.length;
      if (sinceCut < everyBytes) {
        if (!far.write(piece)) {
          near.pause();
          far.once("drain", () => near.resume());
        }
        return;
      }
      sinceCut = 0;
      cuts++;
      end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cuts: () => cuts,
    passedBytes: () => passedBytes,
    close: () => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
