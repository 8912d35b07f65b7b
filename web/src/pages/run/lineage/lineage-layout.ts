import type { Lineage, LineageEdge } from "#proto/cairn/v1/lineage_pb.ts";
import { roleWords } from "../../../data/runs/source-role.ts";

export const NODE_WIDTH = 192;
export const NODE_HEIGHT = 44;
/** Wide enough for the name of a role. */
const COLUMN_GAP = 84;
const ROW_GAP = 14;
const MARGIN = 16;
const SWEEPS = 6;

export interface PlacedNode {
  /** Its index in the nodes of the lineage. */
  index: number;
  x: number;
  y: number;
}

export interface PlacedEdge {
  /** Of an SVG path. */
  path: string;
  /** The artifact that was used, or what it was used as; "" for neither. */
  label: string;
  /** Where the label fits. */
  x: number;
  y: number;
  /** The left ends of the gaps through which it passes columns between its ends. */
  via: readonly Point[];
}

interface Point {
  x: number;
  y: number;
}

export interface LineageLayout {
  nodes: readonly PlacedNode[];
  edges: readonly PlacedEdge[];
  width: number;
  height: number;
}

/** A graph with more long edges than this is drawn with some of them behind nodes. */
const GAPS_MAX = 2_000;

/**
 * Columns: sources on the left, descendants on the right, and every source left of the runs that used it. An edge that
 * passes a column gets a gap there, as if it were a node. Within a column each node is near the middle of its
 * neighbours (a few sweeps of barycentres), so that few lines cross.
 */
export function layOutLineage({ nodes, edges }: Pick<Lineage, "nodes" | "edges">): LineageLayout {
  const layers = layersOf(nodes, edges);
  const distinct = [...new Set(layers)].sort((a, b) => a - b);
  const columnOf = layers.map((layer) => distinct.indexOf(layer));
  const columns = distinct.map((_, at) => columnOf.flatMap((own, i) => (own === at ? [i] : [])));
  const neighbours = nodes.map((): number[] => []);
  const join = (one: number, other: number) => {
    neighbours[one]!.push(other);
    neighbours[other]!.push(one);
  };
  const known = withLabels(
    edges.filter(({ source, child }) => nodes[source] !== undefined && nodes[child] !== undefined),
  );
  const gaps = known.map(({ source, child }) => {
    const own: number[] = [];
    let before = source;
    for (
      let at = columnOf[source]! + 1;
      at < columnOf[child]! && neighbours.length < nodes.length + GAPS_MAX;
      at++
    ) {
      const gap = neighbours.push([]) - 1;
      columns[at]!.push(gap);
      own.push(gap);
      join(before, gap);
      before = gap;
    }
    join(before, child);
    return own;
  });
  const ends = { source: countBy(known, "source"), child: countBy(known, "child") };
  const rank = rankWithin(columns, neighbours);
  const tallest = Math.max(...columns.map(({ length }) => length));
  const height = 2 * MARGIN + tallest * (NODE_HEIGHT + ROW_GAP) - ROW_GAP;
  const places = new Map<number, Point>();
  columns.forEach((column, at) => {
    for (const index of column) {
      const y = height / 2 + rank.get(index)! * (NODE_HEIGHT + ROW_GAP) - NODE_HEIGHT / 2;
      places.set(index, { x: MARGIN + at * (NODE_WIDTH + COLUMN_GAP), y });
    }
  });
  return {
    nodes: nodes.map((_, index) => {
      const { x, y } = places.get(index)!;
      return { index, x, y };
    }),
    edges: known.map(({ source, child, label }, i) => {
      const via = gaps[i]!.map((gap) => places.get(gap)!);
      const points = [places.get(source)!, ...via, places.get(child)!];
      // At an end that no other edge has, it is plain whose label it is.
      const at = ends.source.get(source) === 1 ? "source" : ends.child.get(child) === 1 ? "child" : "middle";
      const { x, y } = labelPlace(points, at);
      return { path: lineThrough(points), x, y, label, via };
    }),
    width: 2 * MARGIN + columns.length * (NODE_WIDTH + COLUMN_GAP) - COLUMN_GAP,
    height,
  };
}

/** Edges between the same nodes are one, such as data that was trained and tested on: their labels would cover each other. */
function withLabels(edges: readonly LineageEdge[]) {
  const pairs = new Map<string, { source: number; child: number; labels: string[] }>();
  for (const { source, child, artifact, role } of edges) {
    const key = `${source} ${child}`;
    const pair = pairs.get(key) ?? { source, child, labels: [] };
    pairs.set(key, pair);
    for (const label of [artifact, roleWords(role)]) {
      if (label !== "" && !pair.labels.includes(label)) pair.labels.push(label);
    }
  }
  return [...pairs.values()].map(({ source, child, labels }) => ({
    source,
    child,
    label: labels.join(", "),
  }));
}

/** Orders the columns and returns how far from the middle of its column each node is. */
function rankWithin(
  columns: number[][],
  neighbours: readonly (readonly number[])[],
): ReadonlyMap<number, number> {
  const rank = new Map<number, number>();
  const remember = (column: readonly number[]) =>
    column.forEach((node, i) => rank.set(node, i - (column.length - 1) / 2));
  columns.forEach(remember);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const column of sweep % 2 === 0 ? columns : columns.toReversed()) {
      const middle = new Map(
        column.map((node) => [node, middleOf(neighbours[node]!, rank) ?? rank.get(node)!]),
      );
      column.sort((a, b) => middle.get(a)! - middle.get(b)!);
      remember(column);
    }
  }
  return rank;
}

/**
 * The distance, pushed outwards until every edge goes to the right; in a cycle, where that is impossible, the distance
 * itself.
 */
function layersOf(nodes: Lineage["nodes"], edges: Lineage["edges"]): number[] {
  const layers = nodes.map(({ distance }) => distance);
  const inside = edges.filter(({ source, child }) => {
    const from = nodes[source]?.distance;
    const to = nodes[child]?.distance;
    return from !== undefined && to !== undefined && from <= 0 === to <= 0;
  });
  for (let round = 0; round <= nodes.length; round++) {
    let isDone = true;
    for (const { source, child } of inside) {
      if (layers[source]! < layers[child]!) continue;
      isDone = false;
      if (nodes[child]!.distance > 0) layers[child] = layers[source]! + 1;
      else layers[source] = layers[child]! - 1;
    }
    if (isDone) return layers;
  }
  return nodes.map(({ distance }) => distance);
}

function middleOf(nodes: readonly number[], rank: ReadonlyMap<number, number>): number | undefined {
  if (nodes.length === 0) return undefined;
  return nodes.reduce((sum, node) => sum + rank.get(node)!, 0) / nodes.length;
}

function countBy<End extends "source" | "child">(
  edges: readonly Record<End, number>[],
  end: End,
): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const edge of edges) counts.set(edge[end], (counts.get(edge[end]) ?? 0) + 1);
  return counts;
}

/** In the gap after the source, in that before the child, or in the middle of the last one. */
function labelPlace(points: readonly Point[], at: "source" | "child" | "middle"): Point {
  const i = at === "source" ? 1 : points.length - 1;
  const from = points[i - 1]!;
  const to = points[i]!;
  const [y1, y2] = [from.y + NODE_HEIGHT / 2, to.y + NODE_HEIGHT / 2];
  const y = at === "source" ? y1 : at === "child" ? y2 : (y1 + y2) / 2;
  return { x: (from.x + NODE_WIDTH + to.x) / 2, y };
}

/** From the right side of what was used, straight through the gaps, to the left side of what was made; also backwards, in a cycle. */
function lineThrough(points: readonly Point[]): string {
  let path = "";
  for (let i = 1; i < points.length; i++) {
    const from = points[i - 1]!;
    const to = points[i]!;
    const x1 = from.x + NODE_WIDTH;
    const y1 = from.y + NODE_HEIGHT / 2;
    const y2 = to.y + NODE_HEIGHT / 2;
    const bend = Math.max(COLUMN_GAP / 2, Math.abs(to.x - x1) / 2);
    path += `${i === 1 ? "M" : "L"}${x1} ${y1} C${x1 + bend} ${y1} ${to.x - bend} ${y2} ${to.x} ${y2} `;
  }
  return path.trimEnd();
}
