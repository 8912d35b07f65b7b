import { expect, it } from "vitest";
import { treeRows } from "./namespace-tree.ts";

const paths = (...all: string[]) => all.map((path) => ({ path }));
const seen = (...given: Parameters<typeof treeRows>) =>
  treeRows(...given).map(({ name, depth, isOpen }) => `${"  ".repeat(depth)}${name}${isOpen ? "" : " +"}`);

it("Z74 a small tree is fully open, with names below their parents", () => {
  const tree = paths("demo", "demo/asr", "demo/asr/en", "demo/mt", "x");
  expect(seen(tree, "", new Map())).toEqual(["demo", "  asr", "    en", "  mt", "x"]);
  expect(seen(tree, "", new Map([["demo/asr", false]]))).toEqual(["demo", "  asr +", "  mt", "x"]);
  expect(treeRows(tree, "", new Map()).map(({ hasChildren }) => hasChildren)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

it("Z74 a large tree is open down to the current namespace", () => {
  const tree = paths(...Array.from({ length: 50 }, (_, i) => [`t${i}`, `t${i}/a`, `t${i}/a/b`]).flat());
  const rows = seen(tree, "t7/a", new Map());
  expect(rows).toHaveLength(52);
  expect(rows.slice(7, 10)).toEqual(["t7", "  a", "    b"]);
});

it("Z74 a namespace whose parent is hidden from the user keeps its path", () => {
  expect(seen(paths("a", "a/secret/b", "c/d"), "", new Map())).toEqual(["a", "  secret/b", "c/d"]);
});
