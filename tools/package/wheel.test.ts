import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../sources.ts";
import { clientSources, writeClientWheel } from "./client-wheel.ts";
import { writeWheel, type WheelMetadata } from "./wheel.ts";

const METADATA: WheelMetadata = {
  name: "some-tool",
  version: "1.2.3",
  summary: "Does something.",
  license: "Apache-2.0",
  requiresPython: ">=3.9",
  readme: "# some-tool\n",
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cairn-wheel-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("writeWheel", () => {
  it("T220 writes its files, metadata, commands and a list with the SHA-256 of each", async () => {
    const path = await writeWheel({
      metadata: { ...METADATA, extras: { all: ["other>=1"] }, dependencies: ["base==2"] },
      files: new Map<string, Uint8Array | { file: string }>([
        ["some_tool/long.js", Buffer.from("x".repeat(10_000))],
        ["some_tool/__init__.py", Buffer.from('"""A tool."""\n')],
        ["some_tool/ünï, code.txt", { file: join(ROOT, "package.json") }],
      ]),
      licenses: new Map([["LICENSE", Buffer.from("Apache\n")]]),
      entryPoints: { console_scripts: { tool: "some_tool:main" } },
      folder,
    });
    expect(path).toBe(join(folder, "some_tool-1.2.3-py3-none-any.whl"));
    const files = readZip(readFileSync(path));
    const info = "some_tool-1.2.3.dist-info";
    expect([...files.keys()]).toEqual([
      "some_tool/__init__.py",
      "some_tool/long.js",
      "some_tool/ünï, code.txt",
      `${info}/licenses/LICENSE`,
      `${info}/METADATA`,
      `${info}/WHEEL`,
      `${info}/entry_points.txt`,
      `${info}/top_level.txt`,
      `${info}/RECORD`,
    ]);
    expect(files.get("some_tool/long.js")).toBe("x".repeat(10_000));
    expect(files.get(`${info}/METADATA`)).toBe(
      [
        "Metadata-Version: 2.4",
        "Name: some-tool",
        "Version: 1.2.3",
        "Summary: Does something.",
        "License-Expression: Apache-2.0",
        "Requires-Python: >=3.9",
        "Description-Content-Type: text/markdown",
        "License-File: LICENSE",
        "Requires-Dist: base==2",
        "Provides-Extra: all",
        'Requires-Dist: other>=1; extra == "all"',
        "",
        "# some-tool\n",
      ].join("\n"),
    );
    expect(files.get(`${info}/entry_points.txt`)).toBe("[console_scripts]\ntool = some_tool:main\n");
    const record = files.get(`${info}/RECORD`)!.split("\n");
    expect(record[0]).toMatch(/^some_tool\/__init__\.py,sha256=[\w-]{43},14$/);
    expect(record[2]).toMatch(/^"some_tool\/ünï, code\.txt",sha256=/);
    expect(record.at(-2)).toBe(`${info}/RECORD,,`);
  });

  it("T220 refuses a line break in the metadata and leaves no part of a file", async () => {
    const metadata = { ...METADATA, name: "bad", summary: "One.\nName: two" };
    const own = join(folder, "own");
    await expect(
      writeWheel({ metadata, files: new Map(), licenses: new Map(), folder: own }),
    ).rejects.toThrow("line break");
    expect(readdirSync(folder).filter((name) => name.includes("part") || name === "own")).toEqual([]);
  });
});

describe("the wheel of the client", () => {
  it("T220 is the same bytes for the same sources, with every module and data file", async () => {
    const first = await writeClientWheel(join(folder, "first"));
    const second = await writeClientWheel(join(folder, "second"));
    expect(readFileSync(first).equals(readFileSync(second))).toBe(true);
    const files = readZip(readFileSync(first));
    const tracked = execFileSync(
      "git",
      ["ls-files", "-co", "--exclude-standard", "cairn", "torchx_plugins"],
      {
        cwd: join(ROOT, "sdk", "python"),
        encoding: "utf8",
      },
    );
    const modules = [...files.keys()].filter((path) => !path.includes(".dist-info/"));
    expect(modules).toEqual(tracked.trim().split("\n").toSorted());
    expect(clientSources()).toEqual(modules);
  });

  it("T220 has the licence of the repository", () => {
    const [own, ours] = [join(ROOT, "LICENSE"), join(ROOT, "sdk", "python", "LICENSE")];
    expect(readFileSync(ours, "utf8")).toBe(readFileSync(own, "utf8"));
  });
});

/** The files of an archive in the order of its directory, as text. */
function readZip(bytes: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  const end = bytes.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const isDeflated = bytes.readUInt16LE(at + 10) === 8;
    const [stored, nameBytes] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28)];
    const offset = bytes.readUInt32LE(at + 42);
    const name = bytes.toString("utf8", at + 46, at + 46 + nameBytes);
    const start = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
    const content = bytes.subarray(start, start + stored);
    files.set(name, String(isDeflated ? inflateRawSync(content) : content));
    at += 46 + nameBytes;
  }
  return files;
}
