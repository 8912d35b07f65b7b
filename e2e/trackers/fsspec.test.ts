import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MetadataValue } from "#sdk/tracker/api.ts";
import { createFsspecTracker } from "#sdk/tracker/fsspec/create.ts";
import { FsspecTracker } from "#sdk/tracker/fsspec/fsspec-tracker.ts";
import { LocalFileSystem } from "#sdk/tracker/fsspec/local-file-system.ts";
import { nameOf } from "#sdk/tracker/fsspec/run-names.ts";
import { pythonCommand, torchxNightly } from "../../tools/needs.ts";

const PYTHON_MS_MAX = 240_000;
const SCRIPT = fileURLToPath(new URL("fsspec_directory.py", import.meta.url));

const BASE = "local_cwd://torchx/base-x2f";
const TUNED = "kubernetes://torchx/default:tuned-7";
const LONE = "a";

/** A call of TrackerBase: method, arguments, keyword arguments. */
type Call = [method: string, args: unknown[], kwargs: Record<string, unknown>];

interface PythonRun {
  /** Type and repr, all the way down. */
  metadata: Record<string, unknown>;
  artifacts: Record<string, [path: string, metadata: unknown]>;
  sources: [string, string | null][];
  children: string[];
}

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "cairn-torchx-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** `calls` is JSON as Python reads it, so that it may hold NaN and 1.0. */
function python(generation: Generation, action: "write" | "read", calls = ""): string {
  const { status, stdout, stderr } = spawnSync(pythonCommand(), [SCRIPT, action, root], {
    input: calls,
    encoding: "utf8",
    timeout: PYTHON_MS_MAX,
    env: {
      PATH: process.env["PATH"],
      PYTHONUTF8: "1",
      ...(generation === "nightly" && { PYTHONPATH: torchxNightly }),
    },
  });
  if (status !== 0) throw new Error(`python ended with ${status}: ${stderr}`);
  return stdout;
}

type Generation = "0.7.0" | "nightly";

function ours(): FsspecTracker {
  return new FsspecTracker(new LocalFileSystem(), root);
}

/** Metadata as Python's json would print it, one value per key. */
const VALUES: readonly (readonly [key: string, json: string, python: unknown, ours: MetadataValue])[] = [
  ["text_one", '"1"', ["str", "'1'"], "1"],
  ["one", "1", ["int", "1"], 1],
  ["float_one", "1.0", ["float", "1.0"], 1],
  ["small", "1e-05", ["float", "1e-05"], 0.00001],
  ["exact", "0.1", ["float", "0.1"], 0.1],
  ["big", "9007199254740993", ["int", "9007199254740993"], 9007199254740993n],
  ["huge", "1e+300", ["float", "1e+300"], 1e300],
  ["minus", "-0.0", ["float", "-0.0"], -0],
  ["nan", "NaN", ["float", "nan"], NaN],
  ["high", "Infinity", ["float", "inf"], Infinity],
  ["low", "-Infinity", ["float", "-inf"], -Infinity],
  ["yes", "true", ["bool", "True"], true],
  ["no", "false", ["bool", "False"], false],
  ["none", "null", ["NoneType", "None"], null],
  ["empty", '""', ["str", "''"], ""],
  [
    "unicode",
    '"Gr\\u00fc\\u00dfe \\ud83d\\ude80 \\n\\"q\\""',
    ["str", "'Grüße 🚀 \\n\"q\"'"],
    'Grüße 🚀 \n"q"',
  ],
  [
    "nested",
    '{"a": [1, 2.5, "x", null, {"b": []}], "c": {}}',
    [
      "dict",
      {
        a: [
          "list",
          [
            ["int", "1"],
            ["float", "2.5"],
            ["str", "'x'"],
            ["NoneType", "None"],
            ["dict", { b: ["list", []] }],
          ],
        ],
        c: ["dict", {}],
      },
    ],
    { a: [1, 2.5, "x", null, { b: [] }], c: {} },
  ],
];

describe.each<Generation>(["0.7.0", "nightly"])("a directory of TorchX %s", (generation) => {
  it("X20 is read value by value as Python wrote it", async () => {
    const metadata = `{${VALUES.map(([key, json]) => `"${key}": ${json}`).join(", ")}}`;
    const call = (...[method, args, kwargs]: Call) => JSON.stringify([method, args, kwargs]);
    const calls = [
      `["add_metadata", ["${BASE}"], ${metadata}]`,
      call("add_metadata", [TUNED], { lr: 0.01, bs: 25 }),
      call("add_metadata", [TUNED], { lr: 0.02 }),
      call("add_artifact", [BASE, "model", "s3://models/1"], {}),
      call("add_artifact", [BASE, "model", "s3://models/2", { acc: 0.5, tags: ["a"] }], {}),
      call("add_artifact", [BASE, "logs/tb", "~/logs"], {}),
      call("add_source", [TUNED, BASE], { artifact_name: "model" }),
      call("add_source", [TUNED, "s3://data/c4"], {}),
      call("add_source", [LONE, TUNED], {}),
      call("add_source", [LONE, TUNED], {}),
    ];
    python(generation, "write", `[${calls.join(",")}]`);

    const tracker = ours();
    expect((await tracker.runIds()).toSorted()).toEqual([BASE, LONE, TUNED].toSorted());
    const read = await tracker.metadata(BASE);
    expect([...read]).toEqual(VALUES.map(([key, , , value]) => [key, value]));
    expect(Object.is(read.get("minus"), -0)).toBe(true);
    expect([...(await tracker.metadata(TUNED))]).toEqual([
      ["lr", 0.02],
      ["bs", 25],
    ]);
    const artifacts = await tracker.artifacts(BASE);
    expect([...artifacts.values()]).toMatchObject([
      { name: "model", path: "s3://models/2" },
      { name: "logs/tb", path: "~/logs", metadata: null },
    ]);
    expect([...artifacts.get("model")!.metadata!]).toEqual([
      ["acc", 0.5],
      ["tags", ["a"]],
    ]);
    expect(await tracker.sources(TUNED)).toMatchObject([
      { sourceRunId: BASE, artifactName: "model" },
      { sourceRunId: "s3://data/c4", artifactName: null },
    ]);
    expect(await tracker.sources(LONE)).toMatchObject([{ sourceRunId: TUNED, artifactName: null }]);
    expect(await tracker.runIds({ parentRunId: BASE })).toEqual([TUNED]);
    const lineage = await tracker.lineage(TUNED);
    expect(lineage.ancestors.map(({ runId }) => runId).toSorted()).toEqual([BASE, "s3://data/c4"]);
    expect(lineage.descendants.map(({ runId }) => runId)).toEqual([LONE]);
    expect(tracker.problems).toEqual([]);
  });

  it("X23 is read also where a value that is not JSON has left a partial file", async () => {
    python(generation, "write", JSON.stringify([["add_metadata", [BASE], { lr: 1 }]]));
    const torn = spawnSync(
      pythonCommand(),
      [
        "-c",
        "import sys, fsspec; from torchx.tracker.backend.fsspec import FsspecTracker\n" +
          'FsspecTracker(fsspec.filesystem("file"), sys.argv[1]).add_metadata(sys.argv[2], ok=1, bad=object())',
        root,
        BASE,
      ],
      { encoding: "utf8", timeout: PYTHON_MS_MAX },
    );
    expect(torn.stderr).toContain("not JSON serializable");
    expect(() => python(generation, "read")).toThrow("JSONDecodeError");
    const tracker = ours();
    expect([...(await tracker.metadata(BASE))]).toEqual([["lr", 1]]);
    expect(tracker.problems).toHaveLength(1);
  });

  it("X21 that we wrote is read by Python value by value", async () => {
    const tracker = ours();
    await tracker.addMetadata(BASE, new Map(VALUES.map(([key, , , value]) => [key, value])));
    await tracker.addMetadata(TUNED, { lr: 0.01 });
    await tracker.addArtifact(BASE, "model", "s3://models/1", { acc: 0.5, epochs: 3n, tags: ["a"] });
    await tracker.addArtifact(BASE, "logs/tb", "~/logs");
    await tracker.addSource(TUNED, BASE, "model");
    await tracker.addSource(TUNED, BASE, "weights");
    await tracker.addSource(TUNED, BASE, "model");
    await tracker.addSource(LONE, BASE);
    await tracker.addSource(LONE, "s3://data/c4");

    const runs = JSON.parse(python(generation, "read")) as Record<string, PythonRun>;
    expect(Object.keys(runs).toSorted()).toEqual([BASE, LONE, TUNED].toSorted());
    const expected = VALUES.map(([key, , typed]) => [
      key,
      // The one thing that numbers of this language cannot say.
      key === "float_one" ? ["int", "1"] : typed,
    ]);
    expect(runs[BASE]!.metadata).toEqual(Object.fromEntries(expected));
    expect(runs[BASE]!.artifacts).toEqual({
      model: [
        "s3://models/1",
        ["dict", { acc: ["float", "0.5"], epochs: ["int", "3"], tags: ["list", [["str", "'a'"]]] }],
      ],
      "logs/tb": ["~/logs", ["NoneType", "None"]],
    });
    expect(runs[TUNED]!.sources).toEqual([
      [BASE, "model"],
      [BASE, "weights"],
    ]);
    expect(new Map(runs[LONE]!.sources)).toEqual(
      new Map([
        [BASE, null],
        ["s3://data/c4", null],
      ]),
    );
    expect(runs[BASE]!.children.toSorted()).toEqual([LONE, TUNED]);
    expect((await readdir(join(root, nameOf(BASE), "descendants"))).toSorted()).toEqual(
      [nameOf(LONE), nameOf(TUNED)].toSorted(),
    );
  });

  it("X20, X21: both write into one directory in turns", async () => {
    const tracker = ours();
    await tracker.addMetadata(BASE, { a: "ours", b: "ours" });
    await tracker.addSource(TUNED, BASE, "first");
    python(
      generation,
      "write",
      JSON.stringify([
        ["add_metadata", [BASE], { b: "theirs" }],
        ["add_source", [TUNED, BASE], { artifact_name: "second" }],
      ] satisfies Call[]),
    );
    await tracker.addSource(TUNED, BASE, "third");
    expect(Object.fromEntries(await tracker.metadata(BASE))).toEqual({ a: "ours", b: "theirs" });
    // The release overwrites a file of links as a whole.
    const kept = generation === "0.7.0" ? ["second", "third"] : ["first", "second", "third"];
    expect((await tracker.sources(TUNED)).map(({ artifactName }) => artifactName)).toEqual(kept);
    const runs = JSON.parse(python(generation, "read")) as Record<string, PythonRun>;
    expect(runs[TUNED]!.sources.map(([, name]) => name)).toEqual(kept);
  });

  it("X26 and its config file mean the same to both", async () => {
    const config = join(root, "tracker.conf");
    await writeFile(config, `# where\nprotocol=file\nroot_path=${root}\nclient_kwargs.a.b=1\n`);
    await (await createFsspecTracker(`file://${config}`)).addMetadata(BASE, { a: 1 });
    const { status, stdout, stderr } = spawnSync(
      pythonCommand(),
      [
        "-c",
        "import sys; from torchx.tracker.backend.fsspec import create\n" +
          "print(create('file://' + sys.argv[1]).metadata(sys.argv[2]))",
        config,
        BASE,
      ],
      {
        encoding: "utf8",
        timeout: PYTHON_MS_MAX,
        env: { PATH: process.env["PATH"], ...(generation === "nightly" && { PYTHONPATH: torchxNightly }) },
      },
    );
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: "{'a': 1}\n" });
  });
});
