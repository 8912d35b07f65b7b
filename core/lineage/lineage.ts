import type { Clock } from "#base/clock.ts";
import { isRunId } from "#base/run-id.ts";
import { Seal } from "#base/seal.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import { authorizeCall, maySee, type Caller } from "../access/caller.ts";
import { maskReadsRun } from "../types/scope.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireText } from "../types/check.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { LineageStore, Link, ListLinks } from "../ports/lineage-store.ts";
import type { ListPart } from "../ports/list-part.ts";
import { HEAVY_PARTS, type RunStore } from "../ports/run-store.ts";
import { fillPage } from "../lists/fill-page.ts";
import { pageSize } from "../lists/page-size.ts";
import type { Runs } from "../runs/runs.ts";
import { drawLineage, type LineageGraph } from "./graph.ts";
import { sourceSight, walkLineage, type Direction, type WalkedNode } from "./walk.ts";

/** What a link leads to, as a caller names it: a run for certain, or an id of anything. */
export type GivenSource = { artifact: string } & ({ by: "run"; run: RunRef } | { by: "id"; id: string });

/** The target of a link, as one caller may know it: `hidden` without any of the three. */
export interface Source {
  runId: string | undefined;
  externalId: string | undefined;
  artifact: string;
  hidden: boolean;
  createdUs: number;
  /** One of SOURCE_ROLES; absent for a link that was added. */
  role?: number | undefined;
}

/** The origin of a link. Nothing else is known of a hidden one. */
export interface Child {
  runId: string | undefined;
  artifact: string;
  hidden: boolean;
  createdUs: number;
  role?: number | undefined;
}

export interface LinkPage {
  /** Also links that follow provenance; false when absent. */
  withRoles?: boolean;
  /** Only links through exactly this artifact, which the caller may know; undefined for all. */
  artifact: string | undefined;
  pageSize: number;
  pageToken: string;
}

export interface GetLineage {
  run: RunRef;
  direction: "both" | Direction;
  /** 0 for the default. */
  depth: number;
}

/** The sources of runs, and what was made from them. */
export class Lineage {
  readonly #store: RunStore;
  readonly #links: LineageStore;
  readonly #runs: Runs;
  readonly #clock: Clock;
  /** Of page tokens: links are numbered over all runs, also those that a caller may not see. */
  readonly #seal = new Seal();

  constructor(parts: { store: RunStore; links: LineageStore; runs: Runs; clock: Clock }) {
    this.#store = parts.store;
    this.#links = parts.links;
    this.#runs = parts.runs;
    this.#clock = parts.clock;
  }

  /** Every rank of a job does this when it starts: it is cheap, and happens once. */
  async addSource(
    caller: Caller,
    ref: RunRef,
    given: GivenSource,
  ): Promise<{ source: Source; created: boolean }> {
    const artifact = checkedArtifact(given.artifact);
    const { id: childId, namespace } = await this.#runs.whereIs(caller, ref);
    const { text, runId, isHidden } = await this.#resolve(caller, given);
    const source = runId ?? text;
    const createdUs = this.#clock.nowUs();
    const byText = runId === undefined && isRunId(text);
    const link = { childId, source, artifact, createdUs, byText, beside: isHidden };
    const audit = auditRecord(caller, createdUs, "add-source", childId, { namespace, source, artifact });
    const added = await this.#links.addSource(link, audit);
    // The id of a run the caller may not see is returned as the given text, and nothing more.
    const externalId = runId === undefined ? text : undefined;
    const shown = { runId, externalId, artifact, hidden: false, createdUs: added.createdUs };
    return { source: shown, created: added.created };
  }

  async removeSource(caller: Caller, ref: RunRef, given: GivenSource): Promise<boolean> {
    const artifact = checkedArtifact(given.artifact);
    const { id: childId, namespace } = await this.#runs.whereIs(caller, ref);
    const { text, runId, isHidden } = await this.#resolve(caller, given);
    const audit = auditRecord(caller, this.#clock.nowUs(), "remove-source", childId, {
      namespace,
      source: text,
      artifact,
    });
    const sources = textsOf(text, runId);
    return (await this.#links.removeSource({ childId, sources, artifact, byTextOnly: isHidden }, audit)) > 0;
  }

  async listSources(
    caller: Caller,
    ref: RunRef,
    page: LinkPage,
  ): Promise<{ sources: Source[]; nextPageToken: string }> {
    const childId = await this.#runs.locate(caller, ref);
    const { items, nextPageToken } = await this.#list(
      page,
      (request) => this.#links.listSources({ ...request, childId }),
      this.#sourceFor(caller),
    );
    return { sources: items, nextPageToken };
  }

  /**
   * The external id may also be the id or an alias of a run that the caller may read. Children of a run that the
   * caller may not see are listed as hidden; those of anything else are left out, since any caller can list them.
   */
  async listChildren(
    caller: Caller,
    of: { by: "run"; run: RunRef } | { by: "id"; id: string },
    page: LinkPage,
  ): Promise<{ children: Child[]; nextPageToken: string }> {
    authorizeCall(caller);
    const { text, runId, isHidden } = await this.#resolve(caller, of);
    const sources = textsOf(text, runId);
    const { items, nextPageToken } = await this.#list(
      page,
      // For a run that the caller may not see it finds the same as for any other text.
      (request) => this.#links.listChildren({ ...request, sources, byTextOnly: isHidden }),
      this.#childFor(caller, runId),
    );
    return { children: items, nextPageToken };
  }

  async get(caller: Caller, request: GetLineage): Promise<LineageGraph> {
    const depth = checkedDepth(request.depth);
    // As the store has it: its place is shown.
    const root = await this.#runs.getHead(caller, request.run);
    const { direction } = request;
    const mask = caller.rights.readable();
    const sight = {
      sees: (run: { id: string; namespace: string }) => mask === undefined || maskReadsRun(mask, run),
      seesArtifact: artifactSight(caller),
    };
    const walked = await walkLineage(this.#links, {
      root,
      depth,
      directions: direction === "both" ? ["sources", "children"] : [direction],
      nodesMax: limits.lineageNodesMax,
      edgesMax: limits.lineageEdgesMax,
      bytesMax: limits.pageBytesMax,
      ...sight,
      signal: caller.signal,
    });
    return drawLineage({ store: this.#store, links: this.#links }, walked, sight, caller.signal);
  }

  /**
   * Resolves a given source: the run, if the caller may read one by that name, and the text itself; and whether
   * that is the id of a run that the caller may not see.
   */
  async #resolve(
    caller: Caller,
    given: { by: "run"; run: RunRef } | { by: "id"; id: string },
  ): Promise<{ text: string; runId: string | undefined; isHidden: boolean }> {
    // Whatever the call does to its own run, the source is only read.
    const reader: Caller = { ...caller, permission: "read" };
    if (given.by === "run") {
      const runId = await this.#runs.locate(reader, given.run);
      return { text: runId, runId, isHidden: false };
    }
    const text = requireText(given.id, limits.sourceBytesMax, "source id");
    if (text === "") {
      throw new CairnError("invalid", 'cannot use source id "": it is empty', {
        hint: 'name a run or give any other id, for example {"source": {"id": "s3://data/c4"}}',
      });
    }
    const alias: RunRef = { by: "alias", alias: text, namespace: "" };
    const refs: readonly RunRef[] = isRunId(text) ? [{ by: "id", id: text }, alias] : [alias];
    for (const ref of refs) {
      try {
        return { text, runId: await this.#runs.locate(reader, ref), isHidden: false };
      } catch (thrown) {
        if (!namesNoRun(thrown)) throw thrown;
      }
    }
    return { text, runId: undefined, isHidden: await this.#isHidden(caller, text) };
  }

  async #isHidden(caller: Caller, text: string): Promise<boolean> {
    if (!isRunId(text)) return false;
    const found = await this.#store.findRuns({ by: "id", id: text }, { omit: HEAVY_PARTS });
    return found.some(({ id, namespace }) => !maySee(caller, { namespace, runId: id }));
  }

  /**
   * One page of links as the caller may see them, filled up where `show` leaves some out. With an artifact asked for, what is hidden is left out:
   * that it was found by this name would tell its name. Such pages are filled up, so that their length
   * does not tell how much was left out.
   */
  async #list<T extends { artifact: string; hidden: boolean }>(
    { artifact, pageSize: asked, pageToken, withRoles = false }: LinkPage,
    read: (request: ListLinks) => Promise<ListPart<Link>>,
    show: (link: Link) => T | undefined,
  ): Promise<{ items: T[]; nextPageToken: string }> {
    const limit = pageSize(asked);
    const begin = pageToken === "" ? 0 : this.#numberOf(pageToken);
    // Links without an artifact never match.
    if (artifact === "") return { items: [], nextPageToken: "" };
    const { items, last } = await fillPage<Link, T>(
      limit,
      (looked, bound) => read({ artifact, after: looked?.number ?? begin, withRoles, ...bound }),
      (link) => {
        const item = show(link);
        const passes = artifact === undefined || (item?.hidden === false && item.artifact === artifact);
        return passes ? item : undefined;
      },
    );
    return { items, nextPageToken: last === undefined ? "" : this.#seal.close([last.number]) };
  }

  #sourceFor(caller: Caller): (link: Link) => Source | undefined {
    const mask = caller.rights.readable();
    const seesArtifact = artifactSight(caller);
    return (link) => {
      const { source, sourceNamespace: namespace, artifact, createdUs, role } = link;
      const shown = { externalId: undefined, runId: undefined, artifact, hidden: false, createdUs, role };
      const sight = sourceSight(link, (run) => mask === undefined || maskReadsRun(mask, run));
      if (sight === "hidden") return { ...shown, artifact: "", hidden: true, role: undefined };
      if (isShownTwice(link, sight)) return undefined;
      if (sight === "external") return { ...shown, externalId: source };
      const runId = link.sourceRun ?? source;
      const sees = seesArtifact({ id: runId, namespace: namespace! }, artifact);
      return { ...shown, runId, artifact: sees ? artifact : "" };
    };
  }

  /** `runId` is the run whose children are asked for; undefined where that is none the caller may read. */
  #childFor(caller: Caller, runId: string | undefined): (link: Link) => Child | undefined {
    const mask = caller.rights.readable();
    const sees = (run: { id: string; namespace: string }) => mask === undefined || maskReadsRun(mask, run);
    const seesArtifact = artifactSight(caller);
    return (link) => {
      const { childId, childNamespace, sourceNamespace, artifact, createdUs } = link;
      const source = link.sourceRun ?? link.source;
      const sight = sourceSight(link, sees);
      if (isShownTwice(link, sight)) return undefined;
      if (!sees({ id: childId, namespace: childNamespace })) {
        if (source !== runId) return undefined;
        return { runId: undefined, artifact: "", hidden: true, createdUs: 0 };
      }
      const knows =
        sight === "external" || seesArtifact({ id: source, namespace: sourceNamespace! }, artifact);
      return { runId: childId, artifact: knows ? artifact : "", hidden: false, createdUs, role: link.role };
    };
  }

  #numberOf(pageToken: string): number {
    const numbers = this.#seal.open(pageToken);
    if (numbers?.length === 1) return numbers[0]!;
    throw new CairnError("invalid", `cannot read page token ${quote(pageToken)}`, {
      reason: "PAGE_TOKEN",
      hint: "begin with the first page: tokens of lineage do not outlive a restart of the server",
    });
  }
}

/** Whether the caller may know an artifact of a run it may read: a single one may be closed to it. */
function artifactSight(
  caller: Caller,
): (run: { id: string; namespace: string }, artifact: string) => boolean {
  const seen = new Map<string, boolean>();
  return ({ id, namespace }, artifact) => {
    if (artifact === "") return true;
    const key = `${id} ${artifact}`;
    let sees = seen.get(key);
    if (sees === undefined) seen.set(key, (sees = maySee(caller, { namespace, runId: id, artifact })));
    return sees;
  };
}

/** Of two links beside each other both show only where one is to a run that the caller may not see. */
function isShownTwice({ isDouble, sourceNamespace }: Link, sight: WalkedNode["kind"]): boolean {
  return isDouble && (sight !== "external" || sourceNamespace === undefined);
}

/** A link may have been made while its source had no run by that name yet. */
function textsOf(text: string, runId: string | undefined): string[] {
  return runId === undefined || runId === text ? [text] : [runId, text];
}

function namesNoRun(thrown: unknown): boolean {
  return thrown instanceof CairnError && (thrown.code === "not-found" || thrown.reason === "ALIAS_AMBIGUOUS");
}

function checkedArtifact(name: string): string {
  return requireText(name, limits.artifactNameBytesMax, "artifact name");
}

function checkedDepth(asked: number): number {
  if (Number.isInteger(asked) && asked >= 0 && asked <= limits.lineageDepthMax) {
    return asked === 0 ? limits.lineageDepthDefault : asked;
  }
  throw new CairnError(
    "invalid",
    `cannot walk ${asked} links far: give 1 to ${limits.lineageDepthMax}, or 0 for ${limits.lineageDepthDefault}`,
  );
}
