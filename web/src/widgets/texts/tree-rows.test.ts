import { describe, expect, it } from "vitest";
import { readTree, treeOfParams, treeRows, type TreeNode, type TreeRow } from "./tree-rows.ts";

const none: ReadonlySet<string> = new Set();

function drawn(rows: readonly TreeRow[]): string[] {
  return rows.map(
    ({ node, depth }) =>
      `${"  ".repeat(depth)}${node.name}${node.text === undefined ? "" : ` = ${node.text}`}`,
  );
}

function treeOf(text: string): TreeNode {
  const read = readTree(text);
  if ("refused" in read) throw new Error(`refused as ${read.refused}`);
  return read.value;
}

describe("values as they were written", () => {
  it.each(["9007199254740993", "1.0", "1e-3", "-0", "NaN", "-Infinity", "true", "null"])(
    "Z41 keeps %s exactly",
    (text) => {
      expect(treeOf(text).text).toBe(text);
    },
  );

  it("Z41 reads strings, objects and lists", () => {
    const text = '{"a": 1, "b": [1, 2.0], "c": {"d": []}, "e": [{"f": 1}], "a": "x\\n\\u0041"}';
    expect(drawn(treeRows(treeOf(text), none))).toEqual([
      "a = x\nA",
      "b = [1, 2.0]",
      "c",
      "  d = []",
      "e",
      "  0",
      "    f = 1",
    ]);
  });

  it.each(["{", "[1,]", "{a: 1}", "", "1 2", '"', `${"[".repeat(200)}${"]".repeat(200)}`])(
    "Z41 refuses %j as JSON",
    (text) => {
      expect(readTree(text)).toHaveProperty("refused");
    },
  );
});

describe("values that are too much for a tree", () => {
  it("Z99 reports whether they are too many or too deep", () => {
    expect(readTree(`[${"1,".repeat(50_000)}1]`)).toEqual({ refused: "large" });
    expect(readTree("[".repeat(200) + "]".repeat(200))).toEqual({ refused: "deep" });
    expect(readTree("[1")).toEqual({ refused: "broken" });
  });

  it("Z99 counts the values of all params together", () => {
    const list = `[${"[1],".repeat(9_999)}1]`;
    const tree = treeOfParams({ a: list, b: list, c: list, d: "7" });
    expect(tree.children!.map(({ children }) => children?.length)).toEqual([
      10_000,
      10_000,
      undefined,
      undefined,
    ]);
  });

  it("Z99 does not repeat a long name in every path below it", () => {
    const long = "n".repeat(10_000);
    const paths = treeRows(treeOf(`{"${long}1": {"a": {"b": 1}}, "${long}2": {"a": {"b": 1}}}`), none).map(
      ({ node }) => node.path,
    );
    expect(new Set(paths).size).toBe(paths.length);
    expect(Math.max(...paths.map(({ length }) => length))).toBeLessThan(300);
  });
});

describe("the tree of params", () => {
  const params = {
    "optim.lr": "0.001",
    "optim.name": '"adam"',
    seed: "7",
    model: '{"layers": 12, "drop": {"p": 0.10}}',
  };

  it("Z41 groups by the dots of keys and opens objects", () => {
    expect(drawn(treeRows(treeOfParams(params), none))).toEqual([
      "model",
      "  layers = 12",
      "  drop",
      "    p = 0.10",
      "optim",
      "  lr = 0.001",
      "  name = adam",
      "seed = 7",
    ]);
  });

  it("Z41 loses no param when one is the beginning of another", () => {
    const rows = treeRows(treeOfParams({ a: "1", "a.b": "2", "a.b.c": "3", "x.y": "4", x: "5" }), none);
    expect(rows.flatMap(({ node }) => node.text ?? []).sort()).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("Z41 finds by key, by path and by value, and shows what is above", () => {
    const tree = treeOfParams(params);
    expect(drawn(treeRows(tree, none, "ADAM"))).toEqual(["optim", "  name = adam"]);
    expect(drawn(treeRows(tree, none, "drop.p"))).toEqual(["model", "  drop", "    p = 0.10"]);
    expect(treeRows(tree, none, "nowhere")).toEqual([]);
  });

  it("Z41 folds what was closed, and a large tree at first", () => {
    const tree = treeOfParams(params);
    const optim = treeRows(tree, none).find(({ node }) => node.name === "optim")!;
    expect(drawn(treeRows(tree, new Set([optim.node.path]), ""))).not.toContain("  lr = 0.001");
    const many = treeOfParams(
      Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`group${i % 10}.p${i}`, String(i)])),
    );
    expect(many.leaves).toBe(10_000);
    expect(treeRows(many, none)).toHaveLength(10);
    expect(treeRows(many, none, "p77")).toHaveLength(
      treeRows(many, none, "p77").filter(({ node }) => node.name.startsWith("p77")).length + 10,
    );
  });
});
