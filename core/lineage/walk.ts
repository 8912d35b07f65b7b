import { limits } from "#lang/limits.ts";
import type { Link, LineageStore, ReadLinks } from "../ports/lineage-store.ts";
import type { PartBound } from "../ports/list-part.ts";

/**
 * The graph around one run: its ancestors (sources of sources …) and its descendants, level by level. Each
 * level is one read of the store; between two levels it is decided what the caller may see, and hidden
 * nodes are neither read nor walked through.
 *
 *   data://c4 → A → [hidden] → ✗        from A: B at 1, the hidden run at 1, C at 2
 *               A → B → C
 *
 * Besides the links that were walked, links between any two nodes of the graph are shown as well, so
 * that no two of them look unrelated when they are not.
 */
export interface WalkRequest {
  root: { id: string; namespace: string };
  directions: readonly Direction[];
  depth: number;
  nodesMax: number;
  edgesMax: number;
  /** Of the texts of nodes and edges together. */
  bytesMax: number;
  /** Whether the caller may read the run. */
  sees(run: { id: string; namespace: string }): boolean;
  /** Whether it may know this artifact of a run it may read. */
  seesArtifact(run: { id: string; namespace: string }, artifact: string): boolean;
  /** Ends the walk. */
  signal?: AbortSignal | undefined;
}

export type Direction = "sources" | "children";

/** `id` is the one in links, also where the caller must not learn it. */
export interface WalkedNode {
  id: string;
  kind: "run" | "external" | "hidden";
  /** Of a run. */
  namespace: string;
  /** Below 0 for a source, above 0 for a child; the shortest way counts. */
  distance: number;
}

/** Numbers are places in `nodes`. `artifact` is "" for none and where the caller must not learn it. */
export interface WalkedEdge {
  source: number;
  child: number;
  artifact: string;
  /** One of SOURCE_ROLES; absent for a link that was added, and where an end is hidden. */
  role?: number;
}

/**
 * The source of a link as a caller may see it. The id of a run that it may not read stays the text that it was
 * given as: its giver does not learn that there is a run.
 */
export function sourceSight(
  { source, sourceRun: id = source, sourceNamespace: namespace, byText }: Link,
  sees: WalkRequest["sees"],
): WalkedNode["kind"] {
  if (namespace === undefined) return "external";
  if (sees({ id, namespace })) return "run";
  return byText ? "external" : "hidden";
}

export interface Walked {
  nodes: WalkedNode[];
  edges: WalkedEdge[];
  truncated: boolean;
  /** The size of nodes and edges in an answer. */
  bytes: number;
}

/** Of a node besides id and namespace, and of an edge besides its artifact. */
const NODE_BYTES = 64;
const EDGE_BYTES = 16;

export async function walkLineage(store: LineageStore, request: WalkRequest): Promise<Walked> {
  const walk = new Walk(store, request);
  // One level more than requested: it shows links between nodes of the last one, and whether there is more.
  for (let level = 1; level <= request.depth + 1; level++) {
    let walked = false;
    for (const direction of request.directions) walked = (await walk.step(direction, level)) || walked;
    if (!walked) break;
  }
  await walk.linkTheRest();
  return walk.result;
}

class Walk {
  readonly #store: LineageStore;
  readonly #request: WalkRequest;
  readonly result: Walked = { nodes: [], edges: [], truncated: false, bytes: 0 };
  readonly #places = new Map<string, number>();
  readonly #edges = new Set<string>();
  /** Ids of runs whose links in a direction were read, or will be with the next level. */
  readonly #walked: Readonly<Record<Direction, Set<string>>> = { sources: new Set(), children: new Set() };
  readonly #next: Record<Direction, string[]>;

  constructor(store: LineageStore, request: WalkRequest) {
    this.#store = store;
    this.#request = request;
    const { id, namespace } = request.root;
    this.#place({ id, kind: "run", namespace, distance: 0 });
    this.#next = { sources: [id], children: [id] };
    for (const direction of request.directions) this.#walked[direction].add(id);
  }

  /** One level in one direction; false when there is nothing left to read. */
  async step(direction: Direction, level: number): Promise<boolean> {
    const ids = this.#next[direction];
    this.#next[direction] = [];
    if (ids.length === 0) return false;
    const end = direction === "sources" ? "child" : "source";
    for (const link of await this.#read({ ids, end, among: undefined })) this.#follow(link, direction, level);
    return true;
  }

  /** Descendants may have been made from each other and from ancestors, too. */
  async linkTheRest(): Promise<void> {
    const { nodes } = this.result;
    const ids = nodes
      .filter(({ id, kind }) => kind === "run" && !this.#walked.sources.has(id))
      .map(({ id }) => id);
    if (ids.length === 0) return;
    const among = nodes.map(({ id }) => id);
    for (const link of await this.#read({ ids, end: "child", among })) this.#link(link);
  }

  async #read(request: Omit<ReadLinks, keyof PartBound>): Promise<Link[]> {
    const bound = { limit: this.#request.edgesMax, bytesMax: limits.lineageLinksBytesMax };
    const { rows, more } = await this.#store.readLinks({ ...request, ...bound }, this.#request.signal);
    if (more) this.result.truncated = true;
    return rows;
  }

  #follow(link: Link, direction: Direction, level: number): void {
    const far = this.#farEnd(link, direction);
    const name = direction === "sources" ? this.#sourceName(link) : link.childId;
    const { nodes, edges } = this.result;
    const { depth, nodesMax, edgesMax } = this.#request;
    const known = this.#places.has(name);
    const isFull = nodes.length >= nodesMax || edges.length >= edgesMax || !this.#fits(nodeBytes(far));
    if (!known && (level > depth || isFull)) {
      this.result.truncated = true;
      return;
    }
    if (!known) this.#place({ ...far, distance: direction === "sources" ? -level : level }, name);
    this.#link(link);
    if (level > depth || far.kind !== "run" || this.#walked[direction].has(far.id)) return;
    this.#walked[direction].add(far.id);
    this.#next[direction].push(far.id);
  }

  #farEnd(link: Link, direction: Direction): Omit<WalkedNode, "distance"> {
    if (direction === "sources") {
      const kind = sourceSight(link, this.#request.sees);
      const isRun = kind === "run";
      const id = isRun ? (link.sourceRun ?? link.source) : link.source;
      return { id, kind, namespace: isRun ? link.sourceNamespace! : "" };
    }
    const { childId: id, childNamespace: namespace } = link;
    return this.#request.sees({ id, namespace })
      ? { id, kind: "run", namespace }
      : { id, kind: "hidden", namespace: "" };
  }

  /** A hidden run and the text that happens to be its id are two nodes. */
  #sourceName(link: Link): string {
    const sight = sourceSight(link, this.#request.sees);
    if (sight === "run") return link.sourceRun ?? link.source;
    return link.sourceNamespace !== undefined && sight === "external" ? `\n${link.source}` : link.source;
  }

  #fits(bytes: number): boolean {
    return this.result.bytes + bytes <= this.#request.bytesMax;
  }

  #place(node: WalkedNode, name = node.id): void {
    this.result.bytes += nodeBytes(node);
    this.#places.set(name, this.result.nodes.length);
    this.result.nodes.push(node);
  }

  /** Links both ends, if both are in the graph. Links that the caller must not distinguish become one edge. */
  #link(link: Link): void {
    const { nodes, edges } = this.result;
    const source = this.#places.get(this.#sourceName(link));
    const child = this.#places.get(link.childId);
    if (source === undefined || child === undefined) return;
    const artifact = this.#artifactOf(link.artifact, nodes[source]!, nodes[child]!);
    const isHidden = nodes[source]!.kind === "hidden" || nodes[child]!.kind === "hidden";
    const role = isHidden ? undefined : link.role;
    const name = `${source} ${child} ${role ?? 0} ${artifact}`;
    if (this.#edges.has(name)) return;
    const bytes = EDGE_BYTES + Buffer.byteLength(artifact);
    if (edges.length >= this.#request.edgesMax || !this.#fits(bytes)) {
      this.result.truncated = true;
      return;
    }
    this.result.bytes += bytes;
    this.#edges.add(name);
    edges.push({ source, child, artifact, ...(role !== undefined && { role }) });
  }

  #artifactOf(artifact: string, source: WalkedNode, child: WalkedNode): string {
    if (artifact === "" || source.kind === "hidden" || child.kind === "hidden") return "";
    if (source.kind === "external") return artifact;
    return this.#request.seesArtifact(source, artifact) ? artifact : "";
  }
}

function nodeBytes({ id, namespace }: Omit<WalkedNode, "distance">): number {
  return NODE_BYTES + Buffer.byteLength(id) + Buffer.byteLength(namespace);
}
