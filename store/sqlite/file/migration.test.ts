import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { CHANGED, CHANGED_RUNS } from "#core/ports/journal.ts";
import {
  appendOne,
  AUDIT,
  envelope,
  getRun,
  newNamespace,
  numbers,
  readNumbers,
  refused,
} from "#store/contract/stores.ts";
import { openIn, type SqliteUnderTest } from "../testing/under-test.ts";

const [FIRST, SECOND, TRASHED] = ["1", "2", "3"].map((digit) => digit.padStart(32, "0")) as [
  string,
  string,
  string,
];

async function openFormat(format: number): Promise<SqliteUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "cairn-format-"));
  const data = join(directory, "data");
  await mkdir(data, { mode: 0o700 });
  const packed = await readFile(new URL(`../testing/format-${format}.db.gz`, import.meta.url));
  await writeFile(join(data, "cairn.db"), gunzipSync(packed));
  return openIn(directory, data);
}

it("D12 opens a file of format 10 with everything in it, folded or not, and gives out no position twice", async () => {
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
