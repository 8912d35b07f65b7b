import { create } from "@bufbuild/protobuf";
import { LineageSchema, type Lineage, type LineageNode } from "#proto/cairn/v1/lineage_pb.ts";
import { shortId } from "#sdk/run-facts.ts";
import { paint, printable } from "../output/text.ts";
import { linkLabel } from "./link-label.ts";
import { statusMark } from "../output/status-mark.ts";

export interface TreeOptions {
  colour: boolean;
  /** The namespace of the run itself, which is not repeated. */
  namespace: string;
}

/** Lines are cut off there; a lineage has at most some thousand nodes, but each may be reached on many paths. */
const LINES_MAX = 5_000;

/** One link as seen from a node: to the next node on one side. */
interface Step {
  node: number;
  /** Names of the links between the two; several where the source was used in several ways. */
  labels: string[];
}

/**
 * Everything a run came from and everything that came from it, as two trees with box characters. A node that was shown
 * before is named again but not expanded: a diamond would double with every level, and a cycle would never end.
 */
export function lineageTree(lineage: Lineage, options: TreeOptions): string[] {
  const sources = new Map<number, Step[]>();
  const children = new Map<number, Step[]>();
  for (const edge of lineage.edges) {
    const label = linkLabel(edge);
    link(sources, edge.child, edge.source, label);
    link(children, edge.source, edge.child, label);
  }
  const drawing = new Drawing(lineage.nodes, options);
  const sides = [
    ["sources", sources, "←"],
    ["children", children, "→"],
  ] as const;
  const shown = sides.filter(([, links]) => (links.get(0)?.length ?? 0) > 0);
  drawing.lines.push(drawing.label(0));
  for (const [i, [title, links, arrow]] of shown.entries()) {
    const isLast = i === shown.length - 1;
    drawing.lines.push(`${isLast ? "└─ " : "├─ "}${paint(options.colour, "dim", title)}`);
    drawing.walk(0, links, arrow, isLast ? "   " : "│  ", [0], new Set([0]));
  }
  if (shown.length === 0) drawing.lines.push(paint(options.colour, "dim", "└─ no links"));
  return drawing.lines;
}

class Drawing {
  readonly lines: string[] = [];
  readonly #nodes: readonly LineageNode[];
  readonly #options: TreeOptions;

  constructor(nodes: readonly LineageNode[], options: TreeOptions) {
    this.#nodes = nodes;
    this.#options = options;
  }

  /** `path` leads to `from`; `seen` was followed already on this side. */
  walk(
    from: number,
    links: ReadonlyMap<number, readonly Step[]>,
    arrow: string,
    indent: string,
    path: readonly number[],
    seen: Set<number>,
  ): void {
    const steps = links.get(from) ?? [];
    for (const [i, { node, labels }] of steps.entries()) {
      if (this.lines.length >= LINES_MAX) {
        this.lines.push(`${indent}…`);
        return;
      }
      const isLast = i === steps.length - 1;
      const isCycle = path.includes(node);
      const goesOn = (links.get(node)?.length ?? 0) > 0;
      const wasSeen = seen.has(node) && goesOn;
      const remark = isCycle ? "  ↺ a cycle" : wasSeen ? "  ⋯ see above" : "";
      const through = labels.length === 0 ? "" : `${labels.join(", ")} ${arrow} `;
      this.lines.push(
        `${indent}${isLast ? "└─ " : "├─ "}${paint(this.#options.colour, "cyan", through)}${this.label(node)}${paint(this.#options.colour, "yellow", remark)}`,
      );
      if (isCycle || wasSeen) continue;
      seen.add(node);
      this.walk(node, links, arrow, `${indent}${isLast ? "   " : "│  "}`, [...path, node], seen);
    }
  }

  label(at: number): string {
    const { colour, namespace } = this.#options;
    const node = this.#nodes[at];
    if (node === undefined) return "?";
    if (node.hidden) return paint(colour, "dim", "hidden");
    if (node.externalId !== "") return `${printable(node.externalId)} ${paint(colour, "dim", "(external)")}`;
    const place = node.namespace === namespace && at !== 0 ? "" : `${printable(node.namespace)}  `;
    const name = paint(colour, at === 0 ? "bold" : [], printable(node.name));
    return `${name}  ${statusMark(node.status, colour)}  ${paint(colour, "dim", `${place}${printable(shortId(node.runId))}`)}`;
  }
}

/** Only links through the artifact of that name, and what they still reach from the run. */
export function throughArtifact(lineage: Lineage, artifact: string): Lineage {
  const edges = lineage.edges.filter((edge) => edge.artifact === artifact);
  const reached = new Set([0]);
  // Iterating a Set includes entries that are added meanwhile.
  for (const side of [
    ["child", "source"],
    ["source", "child"],
  ] as const) {
    const seen = new Set([0]);
    for (const at of seen) for (const edge of edges) if (edge[side[0]] === at) seen.add(edge[side[1]]);
    for (const at of seen) reached.add(at);
  }
  const kept = [...reached].sort((a, b) => a - b);
  const placeOf = new Map(kept.map((at, place) => [at, place]));
  return create(LineageSchema, {
    nodes: kept.map((at) => lineage.nodes[at]!),
    edges: edges
      .filter(({ source, child }) => reached.has(source) && reached.has(child))
      .map(({ source, child, artifact: through, role }) => ({
        source: placeOf.get(source)!,
        child: placeOf.get(child)!,
        artifact: through,
        role,
      })),
    truncated: lineage.truncated,
  });
}

/** Provenance may name what is linked already: that is one step. */
function link(map: Map<number, Step[]>, from: number, node: number, label: string): void {
  const steps = map.get(from) ?? [];
  map.set(from, steps);
  let step = steps.find((one) => one.node === node);
  if (step === undefined) steps.push((step = { node, labels: [] }));
  if (label !== "" && !step.labels.includes(label)) step.labels.push(label);
}
