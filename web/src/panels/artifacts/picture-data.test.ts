import { describe, expect, it } from "vitest";
import { readPicture } from "./picture-data.ts";

describe("pictures of a metric", () => {
  it("Z44 are read from what clients log", () => {
    expect(readPicture('{"picture":"confusion_matrix","classes":["a","b"],"counts":[[1,2],[3,4]]}')).toEqual({
      kind: "confusion",
      classes: ["a", "b"],
      counts: [
        [1, 2],
        [3, 4],
      ],
    });
    expect(readPicture('{"picture":"roc","x":[0,1],"y":[0,1],"area":0.5}')).toMatchObject({
      kind: "curve",
      name: "roc",
      area: 0.5,
    });
    expect(readPicture('{"picture":"histogram","edges":[0,1,2],"counts":[3,4]}')).toMatchObject({
      kind: "histogram",
    });
  });

  it.each([
    "no JSON",
    "null",
    '{"picture":"other"}',
    '{"picture":"confusion_matrix","classes":["a","b"],"counts":[[1,2]]}',
    '{"picture":"confusion_matrix","classes":["a"],"counts":[["<img>"]]}',
    '{"picture":"roc","x":[0],"y":[]}',
    '{"picture":"histogram","edges":[0,1],"counts":[3,4]}',
    '{"picture":"histogram","edges":[],"counts":[]}',
  ])("Z44 are not made of %s", (text) => {
    expect(readPicture(text)).toBeUndefined();
  });
});
