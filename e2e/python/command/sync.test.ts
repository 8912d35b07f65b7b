import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { DescribeKeyRequestSchema } from "#proto/cairn/v1/key_pb.ts";
import { encodeFrame } from "#sdk/spool/frame.ts";
import { useTerminal } from "../../cli/testing/cairn.ts";
import { readNumbers, startJob } from "../../sdk/job.ts";
import { PACKAGE, python } from "../python.ts";
import { pythonCairn, useHome } from "./python-cairn.ts";

const DESCRIBE = 5;
const NOWHERE = "http://127.0.0.1:1";

describe("cairn sync of the Python package", () => {
  const terminal = useTerminal();
  const home = useHome();
  const cairn = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    pythonCairn(words, { env: { HOME: home, ...env } });

  /** The folder of a Python job that was killed while no server answered. */
  async function leave(
    name: string,
    body: string,
    server = NOWHERE,
  ): Promise<{ spool: string; folder: string }> {
    const spool = mkdtempSync(join(home, "spool-"));
    const program = [
      "import cairn, os, sys, time",
      `run = cairn.init(namespace="left", name="${name}", alias="${name}", params={"lr": 0.1})`,
      body,
      "print('spooled', flush=True)",
      "time.sleep(300)",
    ].join("\n");
    const env = { PATH: process.env["PATH"], PYTHONPATH: PACKAGE, HOME: home, CAIRN_SPOOL: spool };
    const child = spawn(python(), ["-c", program], {
      env: { ...env, CAIRN_SERVER: server, CAIRN_CAPTURE: "none" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const closed = once(child, "close");
    await Promise.race([once(child.stdout, "data"), closed]);
    // Otherwise the program has failed.
    expect(child.exitCode).toBeNull();
    child.kill("SIGKILL");
    await closed;
    return { spool, folder: join(spool, readdirSync(spool)[0]!) };
  }

  const POINTS = 'for i in range(3): run.log({"a": i}, step=i)\nrun.flush(0)';
  const WITH_FILE = `run.source("s3://data/c4")
${POINTS}
import pathlib
spool = pathlib.Path(os.environ["CAIRN_SPOOL"])
(spool.parent / "note.txt").write_text("hello")
run.artifact("note.txt", spool.parent / "note.txt")
while not any(b'"sha256"' in path.read_bytes() for path in spool.glob("*/*.frames")): time.sleep(0.01)`;

  function segmentOf(folder: string): string {
    return join(
      folder,
      readdirSync(folder).find((name) => name.endsWith(".frames"))!,
    );
  }

  it("T226 delivers points and files of a killed job to the server it is given, and removes them", async () => {
    const { spool } = await leave("killed", WITH_FILE);
    const dry = await cairn(["sync", spool, "--dry-run"]);
    expect(dry.stdout).toMatch(/^killed: \d frames for http:\/\/127\.0\.0\.1:1\n$/);
    const away = await cairn(["sync", spool]);
    expect([away.code, away.stdout]).toEqual([5, expect.stringContaining(`cannot reach ${NOWHERE}`)]);
    const { code, stdout } = await cairn(["sync", spool, "--server", terminal.server.url]);
    expect(stdout).toMatch(/^[0-9a-f]{32}: \d envelopes? delivered, 1 file uploaded, 1 source linked\n$/);
    expect(code).toBe(0);
    expect(readdirSync(spool)).toEqual([]);
    const { id } = await terminal.client.runs.getRun({ run: { alias: "killed" } });
    expect((await readNumbers(terminal.client, id, "a")).values).toEqual([0, 1, 2]);
    const { artifacts } = await terminal.client.artifacts.listArtifacts({ run: { id } });
    expect(artifacts.map(({ name }) => name)).toEqual(["note.txt"]);
    const again = await cairn(["sync", spool]);
    expect(again).toMatchObject({ code: 0, stdout: `nothing to deliver in ${spool}\n` });
  });

  it("T226 delivers what a TypeScript job has left, and leaves the folder of a living one alone", async () => {
    const spool = mkdtempSync(join(home, "spool-"));
    const job = startJob(
      `const run = await cairn.init({ server: ${JSON.stringify(terminal.server.url)}, name: "ts", alias: "ts",
         spool: ${JSON.stringify(spool)}, capture: false, offline: true });
       run.log({ a: 1 });
       run.flush();
       console.log("spooled");
       setInterval(() => {}, 1000);`,
    );
    await expect.poll(() => job.lines).toContain("spooled");
    const alive = await cairn(["sync", spool, "--json"]);
    expect(alive.json()).toMatchObject({ folders: [{ isAlive: true, isDone: false }] });
    expect(alive.code).toBe(0);
    job.child.kill("SIGKILL");
    await job.exited;
    const { code, stdout } = await cairn(["sync", spool]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/: \d envelopes? delivered\n$/)]);
  });

  it("T227 a job that ran without any server set goes to CAIRN_SERVER, others to their own", async () => {
    for (const [serverSet, code] of [
      [false, 0],
      [true, 5],
      [undefined, 5],
    ] as const) {
      const { spool, folder } = await leave(`unset-${serverSet}`, POINTS);
      const path = join(folder, "owner.json");
      const owner = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
      writeFileSync(path, JSON.stringify({ ...owner, serverSet }));
      const synced = await cairn(["sync", spool], { CAIRN_SERVER: terminal.server.url });
      expect([serverSet, synced.code]).toEqual([serverSet, code]);
    }
  });

  it("T228 names what the server refuses, why, and what to do with it; delivers the rest", async () => {
    const { spool, folder } = await leave("refused", POINTS);
    const describeKey = (key: string) =>
      toBinary(
        DescribeKeyRequestSchema,
        create(DescribeKeyRequestSchema, { description: { namespace: "left", key, unit: "%" } }),
      );
    for (const key of ["", "a"]) {
      appendFileSync(segmentOf(folder), encodeFrame(DESCRIBE, 0, Buffer.from(describeKey(key))));
    }
    appendFileSync(segmentOf(folder), encodeFrame(60, 0, Buffer.from("of a later version")));
    const { code, stdout, stderr } = await cairn(["sync", spool, "--server", terminal.server.url]);
    expect(code).toBe(1);
    expect(stdout).toContain(`1 metric described, 1 frame refused, kept in ${folder}/refused`);
    expect(stderr).toMatch(/^the server refuses a description of a metric: cannot .*\(kept as .*\.frame\)$/m);
    expect(stderr).toContain("`cairn sync --discard` destroys what is not needed");
    const { keys } = await terminal.client.metrics.listKeys({ namespace: "left" });
    expect(keys).toContainEqual(expect.objectContaining({ key: "a", unit: "%" }));
    const later = await cairn(["sync", spool, "--json"]);
    expect(later.json()).toMatchObject({ folders: [{ isDone: true, left: 0, refusedBefore: 1 }] });
    const doctor = await cairn(["doctor"], { CAIRN_SPOOL: spool, CAIRN_SERVER: terminal.server.url });
    expect(doctor.stdout).toContain("a server refused 1 frame");
    const discarded = await cairn(["sync", spool, "--discard"]);
    expect(discarded.stdout).toMatch(/^discarded a description of a metric \(.*\.frame\)\n$/);
    expect(existsSync(folder)).toBe(false);
  });

  it("T226 reads around damage, declares the lost number once, and delivers twice without harm", async () => {
    const body = 'for i in range(4):\n    run.log({"a": i}, step=i)\n    run.flush(0)';
    const { spool, folder } = await leave("damaged", body);
    const segment = segmentOf(folder);
    const bytes = readFileSync(segment);
    // A flipped bit in the second envelope.
    const places = framePlaces(bytes).filter(({ kind }) => kind === 2);
    expect(places.length).toBeGreaterThanOrEqual(4);
    bytes[places[1]!.at + 30]! ^= 1;
    writeFileSync(segment, bytes);
    const owner = readFileSync(join(folder, "owner.json"));
    const words = ["sync", spool, "--server", terminal.server.url, "--json"];
    const first = await cairn(words);
    expect(first.json()).toMatchObject({ folders: [{ isDone: true, lost: 1, refused: 0, damages: 1 }] });
    expect(first.code).toBe(0);
    // As if the process that delivered had died before it removed the segment.
    mkdirSync(folder);
    writeFileSync(join(folder, "owner.json"), owner);
    writeFileSync(segment, bytes);
    const second = await cairn(words);
    expect(second.json()).toMatchObject({ folders: [{ isDone: true, refused: 0 }] });
    const { id } = await terminal.client.runs.getRun({ run: { alias: "damaged" } });
    const { values } = await readNumbers(terminal.client, id, "a");
    expect(values).toEqual([0, 2, 3]);
  });
});

/** Where frames begin in a segment. */
function framePlaces(bytes: Buffer): { at: number; kind: number }[] {
  const places: { at: number; kind: number }[] = [];
  for (let at = 12; at < bytes.length; at += 17 + bytes.readUInt32LE(at)) {
    places.push({ at, kind: bytes[at + 8]! });
  }
  return places;
}
