import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leafWord, paramLeaves, parseJsonNode, type JsonNode } from "./json-node.ts";

const words = (params: Record<string, string>) =>
  [...paramLeaves(params)].map(([key, leaf]) => [key, leafWord(leaf)]);

describe("params by their paths", () => {
  it("T26 addresses nested ones with dots and list elements by their position", () => {
    expect(words({ optim: '{"lr":0.1,"betas":[0.9,{"x":null}]}', b: "true" })).toEqual([
      ["b", "true"],
      ["optim.betas.0", "0.9"],
      ["optim.betas.1.x", "null"],
      ["optim.lr", "0.1"],
    ]);
  });

  it("T26 keeps numbers as they were written", () => {
    const params = { a: "1.0", b: "9007199254740993", c: "NaN", d: "-Infinity", e: "1e-3" };
    expect(words(params).map(([, word]) => word)).toEqual([
      "1.0",
      "9007199254740993",
      "NaN",
      "-Infinity",
      "1e-3",
    ]);
  });

  it("T26 tells a text that looks like a number from the number", () => {
    expect(words({ a: '"1"', b: "1", c: '"true"', d: '""', e: '"NaN"', f: '"adam"' })).toEqual([
      ["a", '"1"'],
      ["b", "1"],
      ["c", '"true"'],
      ["d", '""'],
      ["e", '"NaN"'],
      ["f", "adam"],
    ]);
  });

  it("T26 prefers a flat key with dots to a nested one, and keeps empty objects", () => {
    expect(words({ a: '{"b":1,"c":{}}', "a.b": "2", l: "[]" })).toEqual([
      ["a.b", "2"],
      ["a.c", "{}"],
      ["l", "[]"],
    ]);
  });

  it("T26 takes keys of strangers as keys", () => {
    const [leaf] = words(JSON.parse('{"__proto__":"{\\"constructor\\":1}"}') as Record<string, string>);
    expect(leaf).toEqual(["__proto__.constructor", "1"]);
  });

  it.each(["", "{", "[1,", "nope", "1 2", '{"a" 1}', "[".repeat(100_000)])(
    "T26 shows %j, which is no JSON, as it is",
    (text) => {
      expect(parseJsonNode(text)).toMatchObject({ kind: "leaf", source: text });
    },
  );

  it("T26 reads all JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(plain(parseJsonNode(JSON.stringify(value)))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

function plain(node: JsonNode): unknown {
  if (node.kind === "leaf") return node.type === "text" ? node.word : (JSON.parse(node.source) as unknown);
  if (node.kind === "list") return node.items.map(plain);
  return JSON.parse(
    `{${node.entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(plain(v))}`).join()}}`,
  );
}
