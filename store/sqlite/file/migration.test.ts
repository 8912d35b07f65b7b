import { expect, it } from "vitest";
import { CHANGED, CHANGED_RUNS } from "#core/ports/journal.ts";
import { reference } from "#store/contract/artifact-samples.ts";
import {
  appendOne,
  AUDIT,
  envelope,
  getRun,
  newNamespace,
  NOW_US,
  numbers,
  readNumbers,
  refused,
} from "#store/contract/stores.ts";
import { openIn, type SqliteUnderTest, tamper, unpackStore } from "../testing/under-test.ts";

const [FIRST, SECOND, TRASHED] = ["1", "2", "3"].map((digit) => digit.padStart(32, "0")) as [
  string,
  string,
  string,
];

async function openFormat(format: number): Promise<SqliteUnderTest> {
  const { directory, data } = await unpackStore(`format-${format}.db.gz`);
  return openIn(directory, data);
}

it.each([9, 10, 13, 18])("D12 leaves no broken reference in a file of format %d", async (format) => {
  const under = await openFormat(format);
  await under.engine.close();
  let lost: unknown[] = [""];
  tamper(under.data!, (db) => (lost = db.prepare("PRAGMA foreign_key_check").all()));
  expect(lost).toEqual([]);
  await under.discard();
});

it("D12 keeps the long columns of runs last: SQLite reads all that comes before the one it needs", async () => {
  const under = await openFormat(18);
  await under.engine.close();
  let columns: unknown[] = [];
  tamper(under.data!, (db) => (columns = db.prepare("SELECT name FROM pragma_table_info('run')").all()));
  const names = columns.map((column) => (column as { name: string }).name);
  expect(names.slice(-4)).toEqual(["searchable", "params", "notes", "provenance"]);
  await under.discard();
});

it("D12 opens a file of format 10 with everything in it, folded or not, and reuses no position", async () => {
  let under = await openFormat(10);
  expect(await readNumbers(under.points, FIRST, "loss")).toEqual([1, 2, 3, 4, 5]);
  expect(await readNumbers(under.points, SECOND, "loss")).toEqual([4]);
  expect((await getRun(under.runs, FIRST)).tags.get("from")).toBe("format 10");
  expect((await getRun(under.runs, TRASHED)).deletedUs).toBeDefined();
  const { position, changes, secret } = await under.journal.changesSince(undefined, CHANGED_RUNS);
  expect([position, changes]).toEqual([4, []]);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  // The position of a row that is still in the log must not come again, or the fold would pass the new one over.
  await appendOne(under.journal, envelope(FIRST, 3, { series: [numbers("loss", [6], 5)] }));
  await under.runs.purgeRun(TRASHED, AUDIT);
  expect((await under.journal.changesSince(position, CHANGED_RUNS)).changes).toEqual([
    { position: 5, runId: FIRST, namespace: "lab/old", what: CHANGED.points, envelopes: 1 },
    { position: 6, runId: TRASHED, namespace: "lab/old", what: CHANGED.purged, envelopes: 0 },
  ]);
  await under.settle();
  under = await under.reopen!();
  expect(await readNumbers(under.points, FIRST, "loss")).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await under.journal.changesSince(undefined, CHANGED_RUNS)).toMatchObject({ position: 6, secret });
  expect((await under.engine.integrity!.checkIntegrity()).problems).toEqual([]);
  await under.discard();
});

it("D12 E15 opens a file of format 13 and drops repeated bodies from then on", async () => {
  let under = await openFormat(13);
  expect(await readNumbers(under.points, FIRST, "loss")).toEqual([1, 2, 3, 4, 5]);
  // As the one without a number that is there: nothing is known of it.
  const body = () => envelope(FIRST, 0, { series: [numbers("free", [7])], dropRepeated: true });
  expect(await appendOne(under.journal, body())).toMatchObject({ duplicate: false });
  expect(await appendOne(under.journal, body())).toMatchObject({ duplicate: true });
  under = await under.reopen!();
  expect(await appendOne(under.journal, body())).toMatchObject({ duplicate: true });
  expect(await under.runs.verifyRun(FIRST)).toMatchObject({ unnumberedEnvelopes: 2, problems: [] });
  expect((await under.engine.integrity!.checkIntegrity()).problems).toEqual([]);
  await under.discard();
});

it("D12 M12 opens a file of format 13 with its models, of which followers are sent all, and then what changes", async () => {
  const under = await openFormat(13);
  const models = async () => {
    await under.feed.catchUp();
    return under.feed.modelsOf(FIRST).map(({ name, step }) => `${name}@${step}`);
  };
  expect(await models()).toEqual(["closed.pt@4", "model.pt@3"]);
  await under.artifacts.deleteArtifact(FIRST, "model.pt", 3, AUDIT);
  expect(await models()).toEqual(["closed.pt@4"]);
  await under.artifacts.putArtifact(FIRST, reference({ name: "new.pt", kind: "model", step: 5 }), 1);
  expect(await models()).toEqual(["closed.pt@4", "new.pt@5"]);
  expect((await under.engine.integrity!.checkIntegrity()).problems).toEqual([]);
  await under.discard();
});

it("D12 N9 gives the namespaces of format 13 their ids, with all that refers to them, and none of them again", async () => {
  let under = await openFormat(13);
  const paths = ["lab", "lab/old", "lab/old/deep"];
  const ids = async () =>
    Promise.all(paths.map(async (path) => (await under.namespaces.findNamespace(path))!.id));
  const before = await ids();
  expect(new Set(before).size).toBe(3);
  expect(await under.namespaces.findNamespace("lab/old")).toMatchObject({
    description: "of format 13",
    objective: { metric: "loss", direction: "minimize" },
    tags: new Map(),
    capture: { forbidsConsole: false, forbidsCode: true },
  });
  expect(await under.namespaces.listCapturePolicies()).toHaveLength(1);
  expect(await under.runs.findRuns({ by: "alias", alias: "job-2", namespace: "lab" })).toMatchObject([
    { id: SECOND, namespace: "lab/old/deep" },
  ]);
  const page = { after: undefined, limit: 9, bytesMax: Infinity };
  expect((await under.namespaces.listKeys(["lab/old"], page)).rows).toMatchObject([
    { key: "loss", unit: "nats" },
  ]);
  await under.runs.setDeleted(SECOND, 1, AUDIT);
  await under.runs.purgeRun(SECOND, AUDIT);
  await under.namespaces.deleteNamespace("lab/old/deep", AUDIT);
  under = await under.reopen!();
  const { id } = await under.namespaces.createNamespace(newNamespace("lab/old/deep"));
  expect(before).not.toContain(id);
  expect((await ids()).slice(0, 2)).toEqual(before.slice(0, 2));
  // Foreign keys hold again: descriptions of keys go with their namespace.
  await expect(under.namespaces.deleteNamespace("lab/old", AUDIT)).rejects.toEqual(refused("precondition"));
  expect((await under.engine.integrity!.checkIntegrity()).problems).toEqual([]);
  await under.discard();
});

it("D12, N2: opens a file of format 13 with no namespace in the trash, and keeps what goes there from then on", async () => {
  let under = await openFormat(13);
  const trashed = async () => {
    const page = { under: "", after: undefined, trashed: true, limit: 9, bytesMax: Infinity };
    return (await under.namespaces.listNamespaces(page)).rows.map(({ path }) => path);
  };
  expect(await trashed()).toEqual([]);
  await under.namespaces.trashNamespace("lab/old", 1, AUDIT);
  under = await under.reopen!();
  expect(await trashed()).toEqual(["lab/old", "lab/old/deep"]);
  expect((await getRun(under.runs, SECOND)).deletedUs).toBe(1);
  await under.namespaces.trashNamespace("lab/old", undefined, AUDIT);
  under = await under.reopen!();
  expect(await trashed()).toEqual([]);
  expect((await getRun(under.runs, SECOND)).deletedUs).toBeUndefined();
  expect((await under.engine.integrity!.checkIntegrity()).problems).toEqual([]);
  await under.discard();
});

it("D12, U207, Q200: opens a file of format 18, whose runs have no creator, and searches their provenance", async () => {
  let under = await openFormat(18);
  const unknown = { creator: "", endedBy: "", changedBy: "", deletedBy: "" };
  for (const id of [FIRST, SECOND, TRASHED]) expect(await getRun(under.runs, id)).toMatchObject(unknown);
  const { provenance } = await getRun(under.runs, FIRST);
  expect(provenance).toMatchObject({
    study: "lr-sweep",
    user: "",
    logsLocation: "",
    code: { trackedChanges: 0 },
  });
  await under.feed.catchUp();
  const first = {
    user: "",
    host: "n1",
    study: "lr-sweep",
    initial_state: "s3://models/base@v1",
    training_data: ["s3://c4@v3", "s3://wiki@v2"],
    test_data: ["s3://test@v1"],
    feature_pipeline: "git@example.org:team/features.git@4f2a91c",
    logs_location: "",
    repository: "git@x:y",
    commit: "c0ffee",
    branch: "main",
  };
  expect(under.feed.findRun(FIRST)!.searchable).toEqual(first);
  const without = { study: "", test_data: [], repository: "", commit: "", branch: "" };
  expect(under.feed.findRun(SECOND)!.searchable).toEqual({ ...first, ...without, initial_state: FIRST });
  expect(under.feed.findRun(TRASHED)!.searchable).toBe(undefined);
  const page = { artifact: undefined, after: 0, limit: 99, bytesMax: Infinity, withRoles: true };
  const links = async (childId: string) =>
    (await under.links.listSources({ ...page, childId })).rows.map(({ role, source }) => [role, source]);
  const roles = [
    [1, "s3://models/base@v1"],
    [2, "s3://c4@v3"],
    [2, "s3://wiki@v2"],
    [3, "s3://test@v1"],
    [4, "git@example.org:team/features.git@4f2a91c"],
  ];
  const ofFirst = await links(FIRST);
  expect(ofFirst).toHaveLength(roles.length);
  for (const one of roles) expect(ofFirst).toContainEqual(one);
  expect(await links(SECOND)).toContainEqual([1, FIRST]);
  const described = await under.namespaces.listKeys(["lab/old"], {
    after: undefined,
    limit: 9,
    bytesMax: Infinity,
  });
  expect(described.rows).toMatchObject([{ key: "loss", unit: "nats" }]);
  expect(described.rows[0]).not.toHaveProperty("min");
  // What a change writes has the form of what was migrated.
  await under.runs.updateRun(FIRST, { notes: "n" }, NOW_US, { ...AUDIT, principal: "ada" });
  under = await under.reopen!();
  await under.feed.catchUp();
  expect(under.feed.findRun(FIRST)!.searchable).toEqual(first);
  expect(await getRun(under.runs, FIRST)).toMatchObject({ ...unknown, changedBy: "ada" });
  expect((await under.engine.integrity!.checkIntegrity()).problems).toEqual([]);
  await under.discard();
});
