import type { Clock } from "#base/clock.ts";
import { limits } from "#lang/limits.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { Query } from "#lang/query/ast.ts";
import { readQuery } from "#lang/query/check.ts";
import { authorizeCall, maySee, type Caller } from "../access/caller.ts";
import type { ArtifactPlaceInRun, ArtifactStore } from "../ports/artifact-store.ts";
import type { ModelSearchResult, RunSearch } from "../ports/run-search.ts";
import { HEAVY_PARTS, type RunStore } from "../ports/run-store.ts";
import { pageSize } from "../lists/page-size.ts";
import { readRuns } from "../lists/read-runs.ts";
import type { Artifact } from "../types/artifact.ts";
import type { Run } from "../types/run.ts";

export interface SearchModels {
  /** May have fields of models (docs/query.md). */
  query: string | Query;
  namespace: string;
  pageSize: number;
  pageToken: string;
}

export interface FoundModel {
  artifact: Artifact;
  /** Without its aliases and heavy parts. */
  run: Run;
}

export interface FoundModels {
  models: FoundModel[];
  nextPageToken: string;
  totalCount: number;
}

/** Models: artifacts of kind model, of all runs that a caller may read. */
export class Models {
  readonly #search: RunSearch;
  readonly #artifacts: ArtifactStore;
  readonly #runs: RunStore;
  readonly #clock: Clock;

  constructor(parts: { search: RunSearch; artifacts: ArtifactStore; runs: RunStore; clock: Clock }) {
    this.#search = parts.search;
    this.#artifacts = parts.artifacts;
    this.#runs = parts.runs;
    this.#clock = parts.clock;
  }

  async search(caller: Caller, request: SearchModels): Promise<FoundModels> {
    authorizeCall(caller);
    const nowUs = this.#clock.nowUs();
    const asked = {
      query: readQuery(request.query, { nowUs, me: caller.principal.name, models: true }),
      readable: caller.rights.readable(),
      hidden: caller.rights.hiddenArtifacts(),
      under: parseNamespace(request.namespace, { root: true }),
      after: request.pageToken === "" ? undefined : request.pageToken,
      nowUs,
    };
    const find = (limit: number) => this.#search.searchModels({ ...asked, limit }, caller.signal);
    const { found, stored } = await this.#fittingPage(find, pageSize(request.pageSize));
    const runs = await this.#runsOf(stored, caller.signal);
    const models = stored.flatMap((artifact) => {
      const run = runs.get(artifact.runId);
      if (run === undefined) return [];
      // It may have been replaced by one of another kind, or closed, since it was found.
      const scope = { namespace: run.namespace, runId: run.id, artifact: artifact.name };
      const isSeen = maySee(caller, { namespace: run.namespace, runId: run.id }) && maySee(caller, scope);
      return artifact.kind === "model" && isSeen ? [{ artifact, run }] : [];
    });
    return { models, nextPageToken: found.next ?? "", totalCount: found.total };
  }

  /** As many as fit into one answer, one at least. Only the search can make the token of a shorter page: it is called again for fewer. */
  async #fittingPage(
    find: (limit: number) => Promise<ModelSearchResult>,
    size: number,
  ): Promise<{ found: ModelSearchResult; stored: Artifact[] }> {
    let found = await find(size);
    for (;;) {
      const { artifacts: stored, looked } = await this.#artifacts.getArtifacts(
        found.models,
        limits.pageBytesMax,
      );
      if (looked === found.models.length) return { found, stored };
      const before = found.models;
      found = await find(looked);
      if (found.models.every((place, at) => isSame(place, before[at]!))) return { found, stored };
    }
  }

  async #runsOf(artifacts: readonly Artifact[], signal: AbortSignal | undefined): Promise<Map<string, Run>> {
    const ids = [...new Set(artifacts.map(({ runId }) => runId))];
    const runs = new Map<string, Run>();
    for await (const run of readRuns(this.#runs, ids, HEAVY_PARTS, signal)) {
      runs.set(run.id, { ...run, aliases: [] });
    }
    return runs;
  }
}

function isSame(a: ArtifactPlaceInRun, b: ArtifactPlaceInRun): boolean {
  return a.runId === b.runId && a.name === b.name && a.step === b.step;
}
