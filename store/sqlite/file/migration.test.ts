import { expect, it } from "vitest";
import { CHANGED, CHANGED_RUNS } from "#core/ports/journal.ts";
import { reference } from "#store/contract/artifact-samples.ts";
import { appendOne, AUDIT, envelope, getRun, numbers, readNumbers } from "#store/contract/stores.ts";
import { openIn, type SqliteUnderTest, unpackStore } from "../testing/under-test.ts";

const [FIRST, SECOND, TRASHED] = ["1", "2", "3"].map((digit) => digit.padStart(32, "0")) as [
  string,
  string,
  string,
];

it("D12 opens a file of format 10 with everything in it, folded or not, and gives out no position twice", async () => {
  const { directory, data } = await unpackStore("format-10.db.gz");
  let under: SqliteUnderTest = await openIn(directory, data);
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
  const { directory, data } = await unpackStore("format-13.db.gz");
  let under: SqliteUnderTest = await openIn(directory, data);
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
  const { directory, data } = await unpackStore("format-13.db.gz");
  const under: SqliteUnderTest = await openIn(directory, data);
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
