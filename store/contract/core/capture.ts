import { expect, it } from "vitest";
import type { RunEnvelope } from "#core/types/envelope.ts";
import { EVERY_LINE } from "#core/types/log.ts";
import { NO_CODE, NO_PROVENANCE, type Provenance } from "#core/types/provenance.ts";
import { artifactRecord } from "../artifact-record.ts";
import { asked, buildCore, CALLER, type CoreUnderTest } from "../core-under-test.ts";
import { logLines } from "../naive-log.ts";
import { numbers, readNumbers, useStores, type OpenStores } from "../stores.ts";

const ARCHIVE = "code/workdir.tar.gz";

const PROVENANCE: Provenance = {
  ...NO_PROVENANCE,
  code: { ...NO_CODE, repository: "r", commit: "c", branch: "b", dirtyPatch: "+secret", archive: ARCHIVE },
  environment: new Map([["host", "n1"]]),
};

/** What a namespace forbids clients to capture. */
export function coreCaptureContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = async () => {
    const built = await buildCore(bench.under);
    await built.captures.load();
    return built;
  };
  const forbid = (built: CoreUnderTest, path: string, policy = { forbidsConsole: true, forbidsCode: true }) =>
    built.namespaces.update(CALLER, { path, ...policy });
  const made = (built: CoreUnderTest, path: string) =>
    built.namespaces.create(CALLER, { path, description: "", objective: undefined });
  const start = async ({ runs }: CoreUnderTest, namespace = "lab/asr") =>
    (await runs.create(CALLER, asked({ namespace }))).run.id;
  const envelope = (id: string, seq: number, parts: Partial<RunEnvelope> = {}): RunEnvelope => ({
    run: { by: "id", id },
    writer: "w",
    seq,
    series: [numbers("loss", [seq], seq)],
    change: undefined,
    lost: [],
    ...parts,
  });
  const textsOf = async ({ logs }: CoreUnderTest, id: string) => {
    const read = await logs.read(CALLER, { run: { by: "id", id }, filter: EVERY_LINE, from: 0, limit: 0 });
    return read.lines.map(({ text }) => text);
  };
  const artifactsOf = async (id: string) => {
    const everything = { prefix: "", kind: undefined, fromStep: undefined, toStep: undefined };
    const page = { runId: id, after: undefined, limit: 100, bytesMax: Infinity, ...everything };
    return (await bench.under.artifacts.listArtifacts(page)).rows.map(({ name }) => name);
  };

  it("N5 a capture policy applies below its namespace, and no namespace below can allow it again", async () => {
    const built = await core();
    for (const path of ["lab/asr/en", "labs"]) await made(built, path);
    await forbid(built, "lab", { forbidsConsole: true, forbidsCode: false });
    await forbid(built, "lab/asr", { forbidsConsole: false, forbidsCode: true });
    await forbid(built, "lab/asr/en", { forbidsConsole: false, forbidsCode: false });
    const held = async (path: string) => (await built.namespaces.get(CALLER, path)).forbidden;
    expect(await held("lab")).toEqual({ console: "lab", code: undefined });
    expect(await held("lab/asr")).toEqual({ console: "lab", code: "lab/asr" });
    expect(await held("lab/asr/en")).toEqual({ console: "lab", code: "lab/asr" });
    expect(await held("labs")).toEqual({ console: undefined, code: undefined });
    const { namespaces } = await built.namespaces.list(CALLER, { under: "lab", pageSize: 0, pageToken: "" });
    expect(namespaces.map(({ capture }) => capture)).toEqual([
      { forbidsConsole: true, forbidsCode: false },
      { forbidsConsole: false, forbidsCode: true },
      { forbidsConsole: false, forbidsCode: false },
    ]);
    // Another server on the same store.
    const again = await core();
    expect(again.captures.forbiddenIn("lab/asr/en/us")).toEqual({ console: "lab", code: "lab/asr" });
  });

  it("N5 stored data stays, and data is stored again once it is allowed again", async () => {
    const built = await core();
    const id = await start(built);
    await built.ingest.write(CALLER, envelope(id, 1, { log: [logLines(["before"])] }));
    await forbid(built, "lab");
    await built.ingest.write(CALLER, envelope(id, 2, { log: [logLines(["meanwhile"])] }));
    await forbid(built, "lab", { forbidsConsole: false, forbidsCode: true });
    const ack = await built.ingest.write(CALLER, envelope(id, 3, { log: [logLines(["after"])] }));
    expect(ack.withheld).toBeUndefined();
    expect(await textsOf(built, id)).toEqual(["before", "after"]);
  });

  it("N7 leaves console lines out of an envelope, returns how many, and keeps everything else", async () => {
    const built = await core();
    const id = await start(built);
    await forbid(built, "lab", { forbidsConsole: true, forbidsCode: false });
    const log = [
      logLines(["printed", "printed too"]),
      logLines(["given"], { written: true }),
      logLines(["trace"], { stream: "stderr", rank: 3 }),
      logLines(["step 7"], { stream: "progress" }),
      logLines(["queued"], { origin: "scheduler" }),
    ];
    const sent = envelope(id, 1, { log, change: { tags: new Map([["a", "b"]]) } });
    expect(await built.ingest.write(CALLER, sent)).toEqual({
      seq: 1,
      duplicate: false,
      points: 1,
      withheld: { lines: 3, artifacts: 0, forbidden: { console: "lab", code: undefined } },
    });
    expect(await textsOf(built, id)).toEqual(["given", "step 7", "queued"]);
    expect(await readNumbers(bench.points, id, "loss")).toEqual([1]);
    expect(built.ingest.accepted).toEqual({ envelopes: 1, points: 1, lines: 3 });
    const onlyLines = envelope(id, 2, { series: [], log: [logLines(["x"])] });
    expect(await built.ingest.write(CALLER, onlyLines)).toMatchObject({ seq: 2, withheld: { lines: 1 } });
    const allowed = envelope(id, 3, { log: [logLines(["y"], { written: true })] });
    expect(await built.ingest.write(CALLER, allowed)).toEqual({ seq: 3, duplicate: false, points: 1 });
  });

  it("N7 leaves the archive of the code out of an envelope, and no other artifact", async () => {
    const built = await core();
    const id = await start(built);
    await forbid(built, "lab", { forbidsConsole: false, forbidsCode: true });
    const content = Buffer.from("tar");
    const artifacts = [
      artifactRecord({ name: ARCHIVE, content }),
      artifactRecord({ name: "a.txt", content }),
    ];
    const sent = envelope(id, 1, { artifacts, log: [logLines(["printed"])] });
    expect(await built.ingest.write(CALLER, sent)).toMatchObject({
      withheld: { lines: 0, artifacts: 1, forbidden: { console: undefined, code: "lab" } },
    });
    expect(await artifactsOf(id)).toEqual(["a.txt"]);
    expect(await textsOf(built, id)).toEqual(["printed"]);
  });

  it("N7 treats an envelope that is sent again as a duplicate, even if the policy has changed", async () => {
    const built = await core();
    const id = await start(built);
    const sent = (seq: number) =>
      envelope(id, seq, {
        log: [logLines([`printed ${seq}`]), logLines([`given ${seq}`], { written: true })],
        artifacts: [artifactRecord({ name: ARCHIVE, content: Buffer.from(String(seq)) })],
      });
    await built.ingest.write(CALLER, sent(1));
    await forbid(built, "lab");
    await built.ingest.write(CALLER, sent(2));
    const duplicate = { duplicate: true, points: 1 };
    for (const seq of [1, 2]) {
      expect(await built.ingest.write(CALLER, sent(seq))).toEqual({ seq, ...duplicate });
    }
    await forbid(built, "lab", { forbidsConsole: false, forbidsCode: false });
    for (const seq of [1, 2]) {
      expect(await built.ingest.write(CALLER, sent(seq))).toEqual({ seq, ...duplicate });
    }
    expect(await built.ingest.write(CALLER, sent(3))).toEqual({ seq: 3, duplicate: false, points: 1 });
    expect(await textsOf(built, id)).toEqual(["printed 1", "given 1", "given 2", "printed 3", "given 3"]);
  });

  it("N200 leaves the patch out of what an envelope captures or states, and says so", async () => {
    const built = await core();
    const id = await start(built);
    await forbid(built, "lab", { forbidsConsole: false, forbidsCode: true });
    for (const [seq, part] of [
      [1, "captured"],
      [2, "addProvenance"],
    ] as const) {
      const sent = envelope(id, seq, { change: { [part]: PROVENANCE, name: `named ${seq}` } });
      expect(await built.ingest.write(CALLER, sent)).toMatchObject({
        duplicate: false,
        withheld: { lines: 0, artifacts: 0, forbidden: { console: undefined, code: "lab" } },
      });
      const run = await built.runs.get(CALLER, { by: "id", id });
      expect(run).toMatchObject({
        name: `named ${seq}`,
        provenance: { code: { dirtyPatch: "", archive: "" } },
      });
      expect(run.provenance!.code!.patchLeftOut).toBe('namespace "lab" forbids code capture');
      expect(run.provenance!.environment.get("note:code")).toMatch(/^left out: namespace "lab"/);
      expect(await built.ingest.write(CALLER, sent)).toMatchObject({ seq, duplicate: true });
    }
    const without = { ...PROVENANCE, code: { ...PROVENANCE.code!, dirtyPatch: "", archive: "" } };
    const allowed = envelope(id, 3, { change: { captured: without } });
    expect(await built.ingest.write(CALLER, allowed)).toEqual({ seq: 3, duplicate: false, points: 1 });
    const ref = { by: "id", id } as const;
    expect(await built.runs.update(CALLER, ref, { addProvenance: PROVENANCE })).toMatchObject({
      provenance: { code: { dirtyPatch: "" } },
    });
  });

  it("N8 leaves the patch out of a run that is created or changed, notes it, and returns the policy", async () => {
    const built = await core();
    await made(built, "lab");
    const before = await built.runs.create(CALLER, asked({ namespace: "lab", provenance: PROVENANCE }));
    expect(before).toMatchObject({ forbidden: { code: undefined }, run: { provenance: PROVENANCE } });
    await forbid(built, "lab", { forbidsConsole: false, forbidsCode: true });
    const left = {
      ...PROVENANCE,
      code: {
        ...PROVENANCE.code!,
        dirtyPatch: "",
        archive: "",
        trackedChanges: 2,
        patchLeftOut: 'namespace "lab" forbids code capture',
        leftOutBytes: 7,
      },
      environment: new Map([
        ["host", "n1"],
        ["note:code", 'left out: namespace "lab" forbids code capture'],
      ]),
    };
    const made2 = await built.runs.create(CALLER, asked({ namespace: "lab/asr", provenance: PROVENANCE }));
    expect(made2.forbidden).toEqual({ console: undefined, code: "lab" });
    expect(made2.run.provenance).toEqual(left);
    const ref = { by: "id", id: made2.run.id } as const;
    const changed = await built.runs.update(CALLER, ref, { provenance: PROVENANCE });
    expect(changed.provenance).toEqual(left);
    const plain = { ...PROVENANCE, code: { ...PROVENANCE.code!, dirtyPatch: "", archive: "" } };
    expect((await built.runs.update(CALLER, ref, { provenance: plain })).provenance).toEqual(plain);
    const stays = await built.runs.get(CALLER, { by: "id", id: before.run.id });
    expect(stays.provenance).toEqual(PROVENANCE);
  });
}
