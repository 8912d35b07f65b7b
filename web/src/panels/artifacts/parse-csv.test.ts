import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ArtifactPlace, ArtifactSchema } from "#proto/cairn/v1/artifact_pb.ts";
import { previewKind } from "./artifact-preview-kind.ts";
import { parseCsv } from "./parse-csv.ts";

describe("artifacts", () => {
  it.each([
    ["a,b\n1,2\n", [["1", "2"]]],
    ["a,b\r\n1,2", [["1", "2"]]],
    ['a,b\n"x, ""y""\nz",2\n', [['x, "y"\nz', "2"]]],
    ["a\tb\n1,5\t2\n", [["1,5", "2"]]],
    ["a;b\n1,5;2\n", [["1,5", "2"]]],
    ["a,b\n1,\n", [["1", ""]]],
    ['a\n"never closed', [["never closed"]]],
    ["", []],
  ])("Z43 reads the table %j", (text, rows) => {
    expect(parseCsv(text).rows).toEqual(rows);
  });

  it("Z43 cuts a long or wide table and marks it as cut", () => {
    const long = parseCsv(`n\n${Array.from({ length: 5_000 }, (_, i) => i).join("\n")}`);
    expect([long.rows.length, long.isCut, long.rows[999]]).toEqual([1_000, true, ["999"]]);
    const wide = parseCsv(`${Array.from({ length: 500 }, (_, i) => `c${i}`).join(",")}\n`);
    expect([wide.head.length, wide.isCut]).toEqual([100, true]);
    const both = parseCsv(`${"1,".repeat(99)}1\n`.repeat(1_000));
    expect([both.rows.length, both.isCut]).toEqual([49, true]);
  });

  it("Z43 does not fetch a reference", () => {
    expect(
      previewKind(
        create(ArtifactSchema, { name: "x.png", mediaType: "image/png", place: ArtifactPlace.REFERENCE }),
      ),
    ).toBe("reference");
  });

  it.each([
    ["image/png", "a", "image"],
    ["IMAGE/SVG+XML; charset=utf-8", "a", "svg"],
    ["image/tiff", "a", "none"],
    ["text/html", "a.txt", "html"],
    ["application/json", "a", "json"],
    ["application/octet-stream", "a.csv", "csv"],
    ["text/markdown", "a", "markdown"],
    ["application/octet-stream", "train.PY", "text"],
    ["application/octet-stream", "model.pt", "none"],
    ["audio/wav", "a", "audio"],
  ])("Z43 shows %s named %s as %s", (mediaType, name, kind) => {
    expect(previewKind(create(ArtifactSchema, { name, mediaType, place: ArtifactPlace.STORED }))).toBe(kind);
  });
});
