import { Code } from "@connectrpc/connect";
import { BoundedMap } from "#base/bounded-map.ts";
import { printField } from "#lang/query/field-text.ts";
import { andCondition } from "#lang/query/draft/and-condition.ts";
import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "../../client.ts";
import { Failure } from "../../failure.ts";
import { eachPage } from "../../pages.ts";
import type { Patience } from "../patience.ts";
import { lastPart, RUN_ID_TAG, runIdTag, toAlias, torchxIdOf } from "../torchx-names.ts";

export interface TrackerPlace {
  /** Runs are looked for here and below; "" for everywhere. */
  readonly namespace: string;
  /** The job this process is part of. */
  readonly job?: TrackedJob | undefined;
}

/** What TorchX passes to a job about itself. */
export interface TrackedJob {
  readonly id: string;
  /** Its run is made in this namespace below the configured one; "" for that one itself. */
  readonly experimentName: string;
  /** What its run is called; "" for the end of its id. */
  readonly runName: string;
}

const RUN_ID = /^[0-9a-f]{32}$/;
const REMEMBERED_MAX = 1_000;
const PAGE = 10_000;
/** Of 36 characters each; a query has at most 16 KiB. */
const IDS_PER_QUERY = 400;

/**
 * Runs by the ids of TorchX. Such an id is an alias of a run, and also a tag, since a run may have several aliases. A run
 * that TorchX did not launch goes by its first alias or, when it has none, by its own id.
 */
export class CairnRuns {
  readonly #server: Cairn;
  readonly #patience: Patience;
  readonly #place: TrackerPlace;
  /** Of runs that were written to, by the id of TorchX. */
  readonly #ids = new BoundedMap<string, Promise<string>>(REMEMBERED_MAX);

  constructor(server: Cairn, patience: Patience, place: TrackerPlace) {
    this.#server = server;
    this.#patience = patience;
    this.#place = place;
  }

  /** undefined when there is none. Throws when several runs have that id. */
  async find(trackerId: string): Promise<Run | undefined> {
    const { namespace } = this.#place;
    const byAlias = await this.#getRun({ alias: toAlias(trackerId), namespace });
    if (byAlias !== undefined || !RUN_ID.test(trackerId)) return byAlias;
    const byId = await this.#getRun({ id: trackerId });
    return byId !== undefined && isWithin(byId.namespace, namespace) ? byId : undefined;
  }

  /** undefined also when several runs have that id. */
  async findUnambiguous(trackerId: string): Promise<Run | undefined> {
    try {
      return await this.find(trackerId);
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.reason === "ALIAS_AMBIGUOUS") return undefined;
      throw thrown;
    }
  }

  /**
   * Writes to a run, which is made when it is missing. Any number of processes may do so at once and share
   * the run. `write` is called again when the run was purged meanwhile.
   */
  async write<T>(trackerId: string, write: (runId: string) => Promise<T>): Promise<T> {
    for (let isFirst = true; ; isFirst = false) {
      const runId = await this.#remembered(trackerId);
      try {
        return await write(runId);
      } catch (thrown) {
        this.#ids.delete(trackerId);
        if (!isFirst || !isNotFound(thrown)) throw thrown;
      }
    }
  }

  #remembered(trackerId: string): Promise<string> {
    const known = this.#ids.get(trackerId);
    if (known !== undefined) return known;
    const id = this.#ensure(trackerId);
    this.#ids.set(trackerId, id);
    id.catch(() => this.#ids.delete(trackerId));
    return id;
  }

  async #ensure(trackerId: string): Promise<string> {
    // Of several, the one in the target namespace is used.
    const found = await this.findUnambiguous(trackerId);
    if (found !== undefined) return found.id;
    const { namespace, job } = this.#place;
    const { experimentName, runName } = job?.id === trackerId ? job : { experimentName: "", runName: "" };
    const request = {
      namespace: [namespace, experimentName].filter((part) => part !== "").join("/"),
      name: runName || lastPart(trackerId),
      aliases: [toAlias(trackerId)],
      tags: { [RUN_ID_TAG]: runIdTag(trackerId) },
      // No process is running for it that could say when it ends.
      status: job?.id === trackerId ? RunStatus.UNSPECIFIED : RunStatus.FINISHED,
      getOrCreate: true,
    };
    const { run } = await this.#patience.call((options) => this.#server.runs.createRun(request, options));
    return run!.id;
  }

  /** All ids, oldest run first; of those in the configured namespace and below that the query selects. */
  async list(query = ""): Promise<string[]> {
    return (await this.#search(`${query} order by created`, this.#place.namespace)).map(torchxIdOf);
  }

  /** The ids of TorchX of runs, by their own. Those that are in the trash or hidden are left out. */
  async idsOf(
    runIds: Iterable<string>,
    { query = "", anywhere = true }: { query?: string; anywhere?: boolean } = {},
  ): Promise<Map<string, string>> {
    const wanted = [...new Set(runIds)];
    const found = new Map<string, string>();
    for (let at = 0; at < wanted.length; at += IDS_PER_QUERY) {
      const values = wanted.slice(at, at + IDS_PER_QUERY);
      const both = andCondition(query, { op: "in", field: { of: "run", name: "id" }, values });
      const runs = await this.#search(both, anywhere ? "" : this.#place.namespace);
      for (const run of runs) found.set(run.id, torchxIdOf(run));
    }
    return found;
  }

  async #search(query: string, namespace: string): Promise<Run[]> {
    const columns = ["aliases", printField({ of: "tag", key: RUN_ID_TAG })];
    const request = { query, namespace, columns, pageSize: PAGE };
    const pages = eachPage((pageToken) =>
      this.#patience.call((options) => this.#server.runs.searchRuns({ ...request, pageToken }, options)),
    );
    const found: Run[] = [];
    for await (const { runs } of pages) found.push(...runs);
    return found;
  }

  async #getRun(run: { id: string } | { alias: string; namespace: string }): Promise<Run | undefined> {
    try {
      return await this.#patience.call((options) => this.#server.runs.getRun({ run }, options));
    } catch (thrown) {
      if (isNotFound(thrown)) return undefined;
      throw thrown;
    }
  }
}

export function isNotFound(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === Code.NotFound;
}

function isWithin(namespace: string, root: string): boolean {
  return root === "" || namespace === root || namespace.startsWith(`${root}/`);
}
