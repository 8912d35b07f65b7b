import { inlineText, isBranch, NodeBudget, parseJsonNodes, type JsonNode } from "./json-nodes.ts";
import { cutText } from "./text.ts";

/** A tree of names and texts, and the rows of it that are to be seen. */
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

/** Joins the names of a path; nothing that people write. */
const JOINT = "\u0000";
/** With fewer leaves everything is open at first. */
const OPEN_LEAVES_MAX = 200;
/** Every path below it has the name of a branch in it. */
const PATH_NAME_MAX = 200;

export function treeOfJson(node: JsonNode, name = "", path = name): TreeNode {
  const text = inlineText(node);
  if (text !== undefined || !isBranch(node)) return { name, path, text: text ?? "", leaves: 1 };
  const children = node.entries.map(([child, entry], i) => {
    const part = child.length > PATH_NAME_MAX ? `${cutText(child, PATH_NAME_MAX)}${JOINT}${i}` : child;
    return treeOfJson(entry, child, path + JOINT + part);
  });
  return { name, path, children, leaves: sumOfLeaves(children) };
}

/** Params as a tree: by the dots in their keys, and into the objects that are their values. */
export function treeOfParams(params: Readonly<Record<string, string>>): TreeNode {
  const root: Draft = new Map();
  for (const key of Object.keys(params).sort()) {
    const names = key.split(".");
    let at = root;
    for (const name of names.slice(0, -1)) {
      const below = at.get(name);
      // A value stands where a group would begin: the rest of the key stays in one piece.
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
  return finished(root, "", "", new NodeBudget());
}

type Draft = Map<string, Draft | string>;

function finished(draft: Draft, name: string, path: string, budget: NodeBudget): TreeNode {
  const children = [...draft].map(([child, value]) => {
    const below = path + JOINT + child;
    if (value instanceof Map) return finished(value, child, below, budget);
    const node = parseJsonNodes(value, budget);
    return node === undefined
      ? { name: child, path: below, text: value, leaves: 1 }
      : treeOfJson(node, child, below);
  });
  return { name, path, children, leaves: sumOfLeaves(children) };
}

function sumOfLeaves(children: readonly TreeNode[]): number {
  return children.reduce((sum, { leaves }) => sum + leaves, 0);
}

/**
 * The rows below the root. `toggled` are branches that are not as they would be by themselves: open in a small tree, closed in a large one. With a search only leaves are
 * shown that hold it in their path or text, and everything above them is open.
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
