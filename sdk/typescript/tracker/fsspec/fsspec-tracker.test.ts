import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TrackerArtifact, TrackerSource } from "../api.ts";
import { FsspecTracker } from "./fsspec-tracker.ts";
import { LocalFileSystem } from "./local-file-system.ts";
import { MemoryFileSystem } from "./memory-file-system.ts";
import { nameOf } from "./run-names.ts";
import type { TrackerFileSystem } from "./tracker-file-system.ts";

const RUN = "local://torchx/run-1";
const PARENT = "local://torchx/base-1";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "cairn-fsspec-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

function localTracker(): FsspecTracker {
  return new FsspecTracker(new LocalFileSystem(), root);
}

async function writeEntry(category: string, name: string, content: string | Uint8Array): Promise<string> {
  const folder = join(root, nameOf(RUN), category);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

describe.each(["local", "memory"] as const)("FsspecTracker on a %s file system", (kind) => {
  let fs: TrackerFileSystem;
  let tracker: FsspecTracker;
  beforeEach(async () => {
    fs = kind === "local" ? new LocalFileSystem() : new MemoryFileSystem();
    await fs.makeDirs(root);
    tracker = new FsspecTracker(fs, root);
  });

  it("X22 the last of three hundred updates of a key wins", async () => {
    for (let i = 1; i <= 300; i++) await tracker.addMetadata(RUN, { epoch: i, [`only-${i % 7}`]: i });
    const metadata = await tracker.metadata(RUN);
    expect(metadata.get("epoch")).toBe(300);
    expect(metadata.get("only-0")).toBe(294);
    expect(await fs.list(`${root}/${nameOf(RUN)}/metadata`)).toHaveLength(300);
  });

  it("X22 many who write at once overwrite nothing", async () => {
    const trackers = Array.from({ length: 8 }, () => new FsspecTracker(fs, root));
    await Promise.all(
      trackers.flatMap((each, rank) =>
        Array.from({ length: 25 }, (_, i) => each.addMetadata(RUN, { [`${rank}-${i}`]: i })),
      ),
    );
    expect((await tracker.metadata(RUN)).size).toBe(200);
  });

  it("X22 a file of that name is never overwritten", async () => {
    expect(await fs.create(`${root}/a`, "first")).toBe(true);
    expect(await fs.create(`${root}/a`, "second")).toBe(false);
    expect(new TextDecoder().decode(await fs.read(`${root}/a`, 100))).toBe("first");
    await expect(fs.read(`${root}/a`, 4)).rejects.toThrow("more than 4 bytes");
    await expect(fs.read(root, 4)).rejects.toThrow("cannot read");
  });

  it("X25 keeps each link once, also when every rank adds it at the same time", async () => {
    const ranks = Array.from({ length: 8 }, () => new FsspecTracker(fs, root));
    await tracker.addMetadata(PARENT, { lr: 1 });
    await Promise.all(ranks.map((rank) => rank.addSource(RUN, PARENT)));
    await Promise.all(ranks.map((rank) => rank.addSource(RUN, PARENT, " weights ")));
    expect(await tracker.sources(RUN)).toEqual([
      new TrackerSource(PARENT, null),
      new TrackerSource(PARENT, "weights"),
    ]);
    expect(await tracker.sources(RUN, "weights")).toEqual([new TrackerSource(PARENT, "weights")]);
    expect(await tracker.sources(RUN, "weight")).toEqual([]);
    const file = `${root}/${nameOf(RUN)}/sources/${nameOf(PARENT)}`;
    expect(new TextDecoder().decode(await fs.read(file, 100))).toBe("\nweights\n");
    const edge = `${root}/${nameOf(PARENT)}/descendants/${nameOf(RUN)}`;
    expect(new TextDecoder().decode(await fs.read(edge, 100))).toBe("\nweights\n");
  });

  it("X25 makes no directory for a parent that was never tracked", async () => {
    await tracker.addSource(RUN, "s3://data/c4");
    expect(await tracker.runIds()).toEqual([RUN]);
    expect(await tracker.runIds({ parentRunId: "s3://data/c4" })).toEqual([RUN]);
    expect(await tracker.runIds({ parentRunId: "s3://data" })).toEqual([]);
    expect(await tracker.runIds({ parentRunId: null })).toEqual([RUN]);
  });

  it("X25 knows ancestors and descendants, also in a circle", async () => {
    await tracker.addArtifact("b", "weights", "s3://w");
    await tracker.addSource("b", "a");
    await tracker.addSource("c", "b", "weights");
    await tracker.addSource("d", "c");
    await tracker.addSource("a", "d");
    const lineage = await tracker.lineage("b");
    expect(lineage.ancestors.map(({ runId, distance }) => [runId, distance])).toEqual([
      ["a", 1],
      ["d", 2],
      ["c", 3],
    ]);
    expect(lineage.descendants.map(({ runId, distance }) => [runId, distance])).toEqual([
      ["c", 1],
      ["d", 2],
      ["a", 3],
    ]);
    expect(lineage.links).toContainEqual({ runId: "c", sourceRunId: "b", artifactName: "weights" });
    expect([...lineage.artifacts.keys()]).toEqual(["weights"]);
  });

  it("X24 refuses what the layout cannot hold, and writes nothing", async () => {
    await expect(tracker.addMetadata("jöb", { a: 1 })).rejects.toThrow("beyond ASCII");
    await expect(tracker.addArtifact("", "a", "b")).rejects.toThrow("it is empty");
    await expect(tracker.addSource(RUN, "x".repeat(200))).rejects.toThrow('cannot use source id "xxx');
    await expect(tracker.addSource(RUN, PARENT, "a\nb")).rejects.toThrow(
      'the artifact name "a\\nb" has a line break',
    );
    await expect(tracker.runIds({ team: "asr" })).rejects.toThrow('cannot filter runs by "team"');
    expect(await fs.list(root)).toEqual([]);
  });

  it("X24 a value that is not JSON is kept as its text, and the run stays readable", async () => {
    await tracker.addMetadata(RUN, { f: () => 1, ok: 2, left: undefined });
    expect([...(await tracker.metadata(RUN))]).toEqual([
      ["f", "() => 1"],
      ["ok", 2],
    ]);
  });

  it("X23 says that the directory does not exist", async () => {
    const nowhere = new FsspecTracker(fs, `${root}/nowhere`);
    const said = `cannot use tracker directory "${root}/nowhere": it does not exist`;
    await expect(nowhere.runIds()).rejects.toThrow(said);
    await expect(nowhere.metadata(RUN)).rejects.toThrow(said);
    await expect(nowhere.addMetadata(RUN, { a: 1 })).rejects.toThrow(said);
  });
});

describe("reading what other writers left", () => {
  it("X22 by the numbers that the names are", async () => {
    await writeEntry("metadata", "1000", '{"metadata": {"a": "later", "c": 3}}');
    await writeEntry("metadata", "999", '{"metadata": {"a": "earlier", "b": 2}}');
    const metadata = await localTracker().metadata(RUN);
    expect(Object.fromEntries(metadata)).toEqual({ a: "later", b: 2, c: 3 });
  });

  it("X20 values come with their types", async () => {
    await writeEntry(
      "metadata",
      "1",
      '{"metadata": {"text": "1", "int": 1, "float": 1.5, "big": 9007199254740993, "nan": NaN, "low": -Infinity, ' +
        '"yes": true, "none": null, "list": [1, "a", {"b": []}], "__proto__": {"x": "\\u00e9"}, "int": 2}}',
    );
    const metadata = await localTracker().metadata(RUN);
    expect([...metadata]).toEqual([
      ["text", "1"],
      ["int", 2],
      ["float", 1.5],
      ["big", 9007199254740993n],
      ["nan", NaN],
      ["low", -Infinity],
      ["yes", true],
      ["none", null],
      ["list", [1, "a", { b: [] }]],
      ["__proto__", { x: "é" }],
    ]);
  });

  it("X20 links of the old generation, with a name and without", async () => {
    await writeEntry("sources", nameOf(PARENT), "weights\n");
    await writeEntry("sources", nameOf("other"), "\n");
    await writeEntry("sources", nameOf("begun"), "");
    await writeEntry("sources", nameOf("twice"), "a\n  a \r\n\nb");
    const links = (await localTracker().sources(RUN)).map(
      (link) => `${link.sourceRunId} ${link.artifactName}`,
    );
    expect(links.toSorted()).toEqual([
      "begun null",
      `${PARENT} weights`,
      "other null",
      "twice a",
      "twice b",
      "twice null",
    ]);
  });

  it("X23 skips what cannot be read, and reports it once, with the reason", async () => {
    await writeEntry("metadata", "1", '{"metadata": {"good": 1}}');
    const torn = await writeEntry("metadata", "2", '{"metadata": {"lr": ');
    const empty = await writeEntry("metadata", "3", "");
    const list = await writeEntry("metadata", "4", "[1]");
    const other = await writeEntry("metadata", "5", '{"metadata": 7}');
    const bytes = await writeEntry("metadata", "6", Uint8Array.of(0x7b, 0xff, 0x7d));
    const swap = await writeEntry("metadata", "1~", '{"metadata": {"good": 2}}');
    await mkdir(join(root, nameOf(RUN), "metadata", "7"));
    const artifact = await writeEntry("artifacts", "1", '{"name": 5, "path": "x", "metadata": null}');
    const artifact2 = await writeEntry("artifacts", "2", '{"name": "n", "path": "x", "metadata": []}');
    await writeEntry("artifacts", "3", '{"name": "ok", "path": "x", "metadata": {"a": 1.0}}');
    const source = await writeEntry("sources", "no-base32", "x\n");
    await mkdir(join(root, "lost+found"));
    await writeFile(join(root, "README"), "a plain file is not a run");

    const reported: string[] = [];
    const tracker = new FsspecTracker(new LocalFileSystem(), root, {
      onProblem: ({ path }) => reported.push(path),
    });
    for (let i = 0; i < 2; i++) {
      expect([...(await tracker.metadata(RUN))]).toEqual([["good", 1]]);
      expect([...(await tracker.artifacts(RUN)).values()]).toEqual([
        new TrackerArtifact("ok", "x", new Map([["a", 1]])),
      ]);
      expect(await tracker.sources(RUN)).toEqual([]);
      expect(await tracker.runIds()).toEqual([RUN]);
    }
    expect(reported.toSorted()).toEqual(
      [
        torn,
        empty,
        list,
        other,
        bytes,
        swap,
        join(root, nameOf(RUN), "metadata", "7"),
        artifact,
        artifact2,
        source,
        join(root, "lost+found"),
      ].toSorted(),
    );
    const reasons = new Map(tracker.problems.map(({ path, reason }) => [path, reason]));
    expect(reasons.get(torn)).toContain(
      "cannot read JSON: expected a JSON value, found the end at column 21",
    );
    expect(reasons.get(empty)).toContain("it is empty");
    expect(reasons.get(bytes)).toBe("it is not valid UTF-8");
    expect(reasons.get(swap)).toBe("its name is not a time in nanoseconds");
    expect(reasons.get(source)).toBe("its name is not a run id in base32");
  });

  it("X23 a device, a pipe or a dangling link does not block", async () => {
    await writeEntry("metadata", "1", '{"metadata": {"good": 1}}');
    await symlink("/dev/zero", join(root, nameOf(RUN), "metadata", "2"));
    await symlink("/nowhere", join(root, nameOf(RUN), "metadata", "3"));
    await writeFile(join(root, "elsewhere"), '{"metadata": {"linked": 2}}');
    await symlink(join(root, "elsewhere"), join(root, nameOf(RUN), "metadata", "4"));
    const tracker = localTracker();
    expect([...(await tracker.metadata(RUN))]).toEqual([
      ["good", 1],
      ["linked", 2],
    ]);
    expect(tracker.problems.map(({ reason }) => reason)).toEqual(["it is not a file", "it is not a file"]);
  });

  it("X22 leaves nothing behind where an entry cannot be written", async () => {
    const tracker = localTracker();
    await tracker.addMetadata(RUN, { a: 1 });
    const folder = join(root, nameOf(RUN));
    expect((await readdir(folder, { recursive: true })).length).toBe(2);
    const [name] = await readdir(join(folder, "metadata"));
    expect(await readFile(join(folder, "metadata", name!), "utf8")).toBe('{"metadata": {"a": 1}}');
    if (process.getuid?.() === 0) return;
    await chmod(folder, 0o500);
    await expect(tracker.addMetadata(RUN, { a: 2 })).rejects.toThrow("EACCES");
    await chmod(folder, 0o700);
  });
});
