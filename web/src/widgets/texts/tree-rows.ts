import { leafContent } from "#lang/json/leaf.ts";
import { JsonError, nodeEntries, parseJson, type JsonNode } from "#lang/json/parse.ts";
import type { Outcome } from "../../prepare/prepared.ts";
import { cutText } from "../../prepare/visible-text.ts";

/** A tree of names and texts, and its visible rows. */
export interface TreeNode {
  name: string;
  /** All names from the root, long ones by their beginning and number, which make it unique. */
  path: string;
  /** Of a leaf. */
  text?: string;
  children?: readonly TreeNode[];
  leaves: number;
}

export interface TreeRow {
  node: TreeNode;
  depth: number;
  isOpen: boolean;
}

/** Joins the names of a path; a character that is not used in names. */
const JOINT = "\u0000";
/** With fewer leaves everything is open at first. */
const OPEN_LEAVES_MAX = 200;
/** Every path below it has the name of a branch in it. */
const PATH_NAME_MAX = 200;

/** Above these limits a value is shown as its text. */
const DEPTH_MAX = 100;
const NODES_MAX = 50_000;
const INLINE_MAX = 80;

/** A tree of untrusted JSON; refused as broken when it is not JSON. */
export function readTree(text: string): Outcome<TreeNode> {
  const read = readNode(text, NODES_MAX);
  return "refused" in read ? read : { value: treeOfNode(read.value) };
}

function readNode(text: string, nodesMax: number): Outcome<JsonNode> {
  try {
    return { value: parseJson(text, { depthMax: DEPTH_MAX, nodesMax, isForeign: true }) };
  } catch (thrown) {
    if (thrown instanceof JsonError) return { refused: thrown.fault };
    throw thrown;
  }
}

function treeOfNode(node: JsonNode, name = "", path = name): TreeNode {
  const text = inlineText(node);
  if (text !== undefined) return { name, path, text, leaves: 1 };
  const children = nodeEntries(node).map(([child, entry], i) => {
    const part = child.length > PATH_NAME_MAX ? `${cutText(child, PATH_NAME_MAX)}${JOINT}${i}` : child;
    return treeOfNode(entry, child, path + JOINT + part);
  });
  return { name, path, children, leaves: sumOfLeaves(children) };
}

/** A short list of literals is easier to read in one line. */
function inlineText(node: JsonNode): string | undefined {
  if (node.type === "object") return node.entries.size === 0 ? "{}" : undefined;
  if (node.type !== "list") return leafContent(node);
  const items = node.items.map((item) => ("source" in item ? item.source : undefined));
  const text = `[${items.join(", ")}]`;
  return items.includes(undefined) || text.length > INLINE_MAX ? undefined : text;
}

/** Params as a tree: by the dots in their keys, and into the objects that are their values. */
export function treeOfParams(params: Readonly<Record<string, string>>): TreeNode {
  const root: Draft = new Map();
  for (const key of Object.keys(params).sort()) {
    const names = key.split(".");
    let at = root;
    for (const name of names.slice(0, -1)) {
      const below = at.get(name);
      // A value is where a group would begin: the rest of the key is not split.
      if (below !== undefined && !(below instanceof Map)) {
        at = root;
        names.splice(0, names.length, key);
        break;
      }
      const next: Draft = below ?? new Map();
      at.set(name, next);
      at = next;
    }
    const last = names.at(-1)!;
    if (at.get(last) instanceof Map) root.set(key, params[key]!);
    else at.set(last, params[key]!);
  }
  return finished(root, "", "", { nodesLeft: NODES_MAX });
}

type Draft = Map<string, Draft | string>;

/** The values of all params count together; after the limit all are shown as their texts. */
function finished(draft: Draft, name: string, path: string, budget: { nodesLeft: number }): TreeNode {
  const children = [...draft].map(([child, value]) => {
    const below = path + JOINT + child;
    if (value instanceof Map) return finished(value, child, below, budget);
    const read = readNode(value, budget.nodesLeft);
    if ("value" in read) {
      budget.nodesLeft -= nodeCount(read.value);
      return treeOfNode(read.value, child, below);
    }
    if (read.refused === "large") budget.nodesLeft = 0;
    return { name: child, path: below, text: value, leaves: 1 };
  });
  return { name, path, children, leaves: sumOfLeaves(children) };
}

function nodeCount(node: JsonNode): number {
  return nodeEntries(node).reduce((sum, [, entry]) => sum + nodeCount(entry), 1);
}

function sumOfLeaves(children: readonly TreeNode[]): number {
  return children.reduce((sum, { leaves }) => sum + leaves, 0);
}

/**
 * The rows below the root. `toggled` are branches that differ from the default: open in a small tree, closed in a large
 * one. With a search only leaves are shown that contain it in their path or text, and everything above them is open.
 */
export function treeRows(root: TreeNode, toggled: ReadonlySet<string>, search = ""): TreeRow[] {
  const wanted = search.trim().toLowerCase();
  const openAtFirst = root.leaves <= OPEN_LEAVES_MAX;
  const rows: TreeRow[] = [];
  const walk = (nodes: readonly TreeNode[], depth: number) => {
    for (const node of nodes) {
      if (wanted !== "" && !holds(node, wanted)) continue;
      const isOpen = wanted === "" ? toggled.has(node.path) !== openAtFirst : !toggled.has(node.path);
      rows.push({ node, depth, isOpen });
      if (node.children !== undefined && isOpen) walk(node.children, depth + 1);
    }
  };
  walk(root.children ?? [root], 0);
  return rows;
}

function holds(node: TreeNode, wanted: string): boolean {
  const { name, path, text, children } = node;
  if (path.replaceAll(JOINT, ".").toLowerCase().includes(wanted)) return true;
  if (text !== undefined) return name.toLowerCase().includes(wanted) || text.toLowerCase().includes(wanted);
  return children!.some((child) => holds(child, wanted));
}
