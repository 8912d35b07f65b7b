import type { Namespace } from "#proto/cairn/v1/namespace_pb.ts";

export interface TreeRow<T> {
  namespace: T;
  name: string;
  depth: number;
  hasChildren: boolean;
  isOpen: boolean;
}

/** Small trees are fully open. */
const WHOLE_MAX = 40;

/**
 * The visible rows of a tree. Rows that the user opened or closed are in `toggled`. All others are open if the tree is small, and otherwise down to the current
 * namespace.
 */
export function treeRows<T extends Pick<Namespace, "path">>(
  namespaces: readonly T[],
  here: string,
  toggled: ReadonlyMap<string, boolean>,
): TreeRow<T>[] {
  const known = new Set(namespaces.map(({ path }) => path));
  const parents = new Set(namespaces.map(({ path }) => nearestOf(path, known)));
  const isOpen = (path: string) =>
    toggled.get(path) ?? (namespaces.length <= WHOLE_MAX || here === path || here.startsWith(`${path}/`));
  const hidden = new Set<string>();
  const rows: TreeRow<T>[] = [];
  for (const namespace of namespaces) {
    const { path } = namespace;
    const parent = nearestOf(path, known);
    if (hidden.has(parent)) {
      hidden.add(path);
      continue;
    }
    const hasChildren = parents.has(path);
    const open = !hasChildren || isOpen(path);
    if (!open) hidden.add(path);
    rows.push({
      namespace,
      name: path.slice(parent === "" ? 0 : parent.length + 1),
      depth: depthOf(parent, known),
      hasChildren,
      isOpen: open,
    });
  }
  return rows;
}

/** Namespaces between may be hidden from the user: then a path is shown below its nearest visible ancestor. */
function nearestOf(path: string, known: ReadonlySet<string>): string {
  let parent = parentOf(path);
  while (parent !== "" && !known.has(parent)) parent = parentOf(parent);
  return parent;
}

function depthOf(parent: string, known: ReadonlySet<string>): number {
  let depth = 0;
  for (let path = parent; path !== ""; path = parentOf(path)) if (known.has(path)) depth++;
  return depth;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
