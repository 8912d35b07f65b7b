import type { Clock } from "#base/clock.ts";
import { isRunId } from "#base/ids.ts";
import { auditRecord } from "../access/audit-record.ts";
import { authorizeCall, maySee, type Caller } from "../access/caller.ts";
import { maskReadsRun } from "../access/scope.ts";
import { CairnError, quote } from "../errors.ts";
import { limits } from "../limits.ts";
import { requireText } from "../model/check.ts";
import type { RunRef } from "../model/run.ts";
import type { LineageStore, Link, ListLinks } from "../ports/lineage-store.ts";
import type { ListPart } from "../ports/list-part.ts";
import { HEAVY_PARTS, type RunStore } from "../ports/run-store.ts";
import { fillPage } from "../runs/fill-page.ts";
import { pageSize, type Runs } from "../runs/runs.ts";
import { drawLineage, type LineageGraph } from "./graph.ts";
import { walkLineage, type Direction } from "./walk.ts";

/** What a link leads to, as a caller names it: a run for certain, or an id of anything. */
export type GivenSource = { artifact: string } & ({ by: "run"; run: RunRef } | { by: "id"; id: string });

/** Where a link leads, as one caller may know it: `hidden` without any of the three. */
export interface Source {
  runId: string | undefined;
  externalId: string | undefined;
  artifact: string;
  hidden: boolean;
  createdUs: number;
}

/** Where a link comes from. Of what is hidden nothing else is known. */
export interface Child {
  runId: string | undefined;
  artifact: string;
  hidden: boolean;
  createdUs: number;
}

export interface LinkPage {
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

/** Where runs came from, and what came from them. */
export class Lineage {
  readonly #store: RunStore;
  readonly #links: LineageStore;
  readonly #runs: Runs;
  readonly #clock: Clock;

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
    const childId = await this.#runs.locate(caller, ref);
    const { text, runId } = await this.#resolve(caller, given);
    const added = await this.#links.addSource({
      childId,
      source: runId ?? text,
      artifact,
      createdUs: this.#clock.nowUs(),
    });
    // A text that is the id of a run the caller may not see comes back as the text it gave, and nothing more.
    const externalId = runId === undefined ? text : undefined;
    const source = { runId, externalId, artifact, hidden: false, createdUs: added.createdUs };
    return { source, created: added.created };
  }

  async removeSource(caller: Caller, ref: RunRef, given: GivenSource): Promise<boolean> {
    const artifact = checkedArtifact(given.artifact);
    const { id: childId, namespace } = await this.#runs.whereIs(caller, ref);
    const { text, runId } = await this.#resolve(caller, given);
    const audit = auditRecord(caller, this.#clock.nowUs(), "remove-source", childId, {
      namespace,
      source: text,
      artifact,
    });
    const sources = textsOf(text, runId);
    return (await this.#links.removeSource({ childId, sources, artifact }, audit)) > 0;
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

  /** The external id may also be the id or an alias of a run that the caller may read. */
  async listChildren(
    caller: Caller,
    of: { by: "run"; run: RunRef } | { by: "id"; id: string },
    page: LinkPage,
  ): Promise<{ children: Child[]; nextPageToken: string }> {
    authorizeCall(caller);
    const { text, runId } = await this.#resolve(caller, of);
    // A run the caller may not see has no children for it: not even those it may see.
    const sources = runId === undefined && (await this.#isHidden(caller, text)) ? [] : textsOf(text, runId);
    const { items, nextPageToken } = await this.#list(
      page,
      (request) => this.#links.listChildren({ ...request, sources }),
      this.#childFor(caller),
    );
    return { children: items, nextPageToken };
  }

  async get(caller: Caller, request: GetLineage): Promise<LineageGraph> {
    const depth = checkedDepth(request.depth);
    const root = await this.#runs.whereIs(caller, request.run);
    const { direction } = request;
    const mask = caller.rights.readable();
    const seesArtifact = artifactSight(caller);
    const walked = await walkLineage(this.#links, {
      root,
      depth,
      directions: direction === "both" ? ["sources", "children"] : [direction],
      nodesMax: limits.lineageNodesMax,
      edgesMax: limits.lineageEdgesMax,
      bytesMax: limits.pageBytesMax,
      sees: (run) => mask === undefined || maskReadsRun(mask, run),
      seesArtifact,
      signal: caller.signal,
    });
    return drawLineage({ store: this.#store, links: this.#links }, walked, seesArtifact, caller.signal);
  }

  /** What a given source means: the run, if the caller may read one by that name, and the text itself. */
  async #resolve(
    caller: Caller,
    given: { by: "run"; run: RunRef } | { by: "id"; id: string },
  ): Promise<{ text: string; runId: string | undefined }> {
    // Whatever the call does to its own run, what that was made from is only looked at.
    const reader: Caller = { ...caller, permission: "read" };
    if (given.by === "run") {
      const runId = await this.#runs.locate(reader, given.run);
      return { text: runId, runId };
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
        return { text, runId: await this.#runs.locate(reader, ref) };
      } catch (thrown) {
        if (!namesNoRun(thrown)) throw thrown;
      }
    }
    return { text, runId: undefined };
  }

  /** Whether the text is the id of a run that the caller may not see. */
  async #isHidden(caller: Caller, text: string): Promise<boolean> {
    if (!isRunId(text)) return false;
    const found = await this.#store.findRuns({ by: "id", id: text }, { omit: HEAVY_PARTS });
    return found.some(({ id, namespace }) => !maySee(caller, { namespace, runId: id }));
  }

  /**
   * One page of links as the caller may see them. With an artifact asked for, what is hidden is left out:
   * that it was found by this name would tell its name. Such pages are filled up, so that their length
   * does not tell how much was left out.
   */
  async #list<T extends { artifact: string; hidden: boolean }>(
    { artifact, pageSize: asked, pageToken }: LinkPage,
    read: (request: ListLinks) => Promise<ListPart<Link>>,
    show: (link: Link) => T,
  ): Promise<{ items: T[]; nextPageToken: string }> {
    const limit = pageSize(asked);
    const begin = pageToken === "" ? 0 : numberOf(pageToken);
    // Links without an artifact never match.
    if (artifact === "") return { items: [], nextPageToken: "" };
    const { items, last } = await fillPage<Link, T>(
      limit,
      (looked, bound) => read({ artifact, after: looked?.number ?? begin, ...bound }),
      (link) => {
        const item = show(link);
        const passes = artifact === undefined || (!item.hidden && item.artifact === artifact);
        return passes ? item : undefined;
      },
    );
    return { items, nextPageToken: last === undefined ? "" : String(last.number) };
  }

  #sourceFor(caller: Caller): (link: Link) => Source {
    const mask = caller.rights.readable();
    const seesArtifact = artifactSight(caller);
    return ({ source, sourceNamespace: namespace, artifact, createdUs }) => {
      const shown = { externalId: undefined, runId: undefined, artifact, hidden: false, createdUs };
      if (namespace === undefined) return { ...shown, externalId: source };
      const run = { id: source, namespace };
      if (mask !== undefined && !maskReadsRun(mask, run)) return { ...shown, artifact: "", hidden: true };
      return { ...shown, runId: source, artifact: seesArtifact(run, artifact) ? artifact : "" };
    };
  }

  #childFor(caller: Caller): (link: Link) => Child {
    const mask = caller.rights.readable();
    const seesArtifact = artifactSight(caller);
    return ({ childId, childNamespace, source, sourceNamespace, artifact, createdUs }) => {
      if (mask !== undefined && !maskReadsRun(mask, { id: childId, namespace: childNamespace })) {
        return { runId: undefined, artifact: "", hidden: true, createdUs: 0 };
      }
      const sees =
        sourceNamespace === undefined || seesArtifact({ id: source, namespace: sourceNamespace }, artifact);
      return { runId: childId, artifact: sees ? artifact : "", hidden: false, createdUs };
    };
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

function numberOf(pageToken: string): number {
  if (/^[1-9][0-9]{0,15}$/.test(pageToken)) return Number(pageToken);
  throw new CairnError("invalid", `cannot read page token ${quote(pageToken)}`, { reason: "PAGE_TOKEN" });
}
