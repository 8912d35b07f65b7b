import { contentPath } from "#lang/content-path.ts";
import { quoteText } from "#lang/query/quote.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { Cairn } from "../client.ts";
import type { Metadata, MetadataValue } from "./api.ts";
import { readCairnConfig, type ConfigContext } from "./cairn/cairn-config.ts";
import { paramTexts, paramValues } from "./param-texts.ts";
import { Patience } from "./patience.ts";

/** A text or a whole number; 1 and "1" are the same key. `/` is allowed: `attempt_1/out`. */
export type ResultKey = string | number;

/** Records by key, as `torchx.runtime.tracking` has them. */
export abstract class ResultTracker {
  /** Replaces the whole record. */
  abstract put(key: ResultKey, results: Metadata): Promise<void>;

  /** Empty when there is no record. */
  abstract get(key: ResultKey): Promise<ReadonlyMap<string, MetadataValue>>;
}

export interface ResultFile {
  mediaType: string;
  content: Uint8Array<ArrayBuffer>;
}

export interface PutFileOptions {
  /** Guessed from the key unless given. */
  mediaType?: string | undefined;
  /** For a file that is made again and again during training. */
  step?: number | undefined;
}

export interface ResultRun {
  namespace: string;
  /** Its alias, and its name when it is made. */
  run: string;
}

const FILE_MS_MAX = 600_000;

/**
 * Records of one run on a Cairn server, which is made with the first of them. A record is a param of the run, under its
 * key, so that it is replaced at once and as a whole, also beside other writers; `params.KEY.NAME` finds it in a search. Files
 * are artifacts of the run. The Python client keeps them in the same way.
 */
export class CairnResultTracker extends ResultTracker {
  readonly #server: Cairn;
  readonly #place: ResultRun;
  readonly #patience: Patience;

  constructor(server: Cairn, place: ResultRun, { timeoutMs }: { timeoutMs?: number | undefined } = {}) {
    super();
    this.#server = server;
    this.#place = place;
    this.#patience = new Patience(server.url, timeoutMs);
  }

  override async put(key: ResultKey, results: Metadata): Promise<void> {
    const name = textOf(key);
    const { texts, textOf: kinds } = paramTexts(results);
    for (const [result, kind] of kinds) {
      throw new TypeError(
        `cannot put result "${result}" of "${name}": a value of kind ${kind} is not a result`,
      );
    }
    const fields = Object.entries(texts).map(([result, json]) => `${JSON.stringify(result)}:${json}`);
    const params = paramOf(name, `{${fields.join(",")}}`);
    const id = await this.#makeRun();
    await this.#patience.call((options) => this.#server.runs.updateRun({ run: { id }, params }, options));
  }

  override async get(key: ResultKey): Promise<ReadonlyMap<string, MetadataValue>> {
    const name = textOf(key);
    const params = (await this.#find("params"))?.params ?? {};
    if (!Object.hasOwn(params, name)) return new Map();
    const record = paramValues(paramOf(name, params[name]!)).get(name);
    // A param of another writer need not be a record.
    if (typeof record !== "object" || record === null || Array.isArray(record)) {
      return new Map([["value", record ?? null]]);
    }
    return new Map(Object.entries(record as Record<string, MetadataValue>));
  }

  /** Stores a file under a key. One of the same key and step is replaced. */
  async putFile(
    key: ResultKey,
    content: Uint8Array | string | Blob,
    { mediaType, step }: PutFileOptions = {},
  ): Promise<void> {
    const name = textOf(key);
    const path = contentPath({ runId: await this.#makeRun(), name, step });
    const response = await this.#server.fetch(path, {
      method: "PUT",
      body: content instanceof Blob ? content : Buffer.from(content as Uint8Array),
      headers: { "content-type": mediaType ?? "application/octet-stream" },
      signal: AbortSignal.timeout(FILE_MS_MAX),
    });
    if (!response.ok) throw await refusal(`cannot put file "${name}"`, response);
    await response.arrayBuffer();
  }

  /** undefined when there is none. Of one with steps the last, unless a step is given. */
  async getFile(key: ResultKey, { step }: { step?: number } = {}): Promise<ResultFile | undefined> {
    const name = textOf(key);
    const run = await this.#find("aliases");
    if (run === undefined) return undefined;
    const response = await this.#server.fetch(contentPath({ runId: run.id, name, step }), {
      signal: AbortSignal.timeout(FILE_MS_MAX),
    });
    if (response.status === 404) {
      await response.arrayBuffer();
      return undefined;
    }
    if (!response.ok) throw await refusal(`cannot get file "${name}"`, response);
    const mediaType = response.headers.get("content-type") ?? "application/octet-stream";
    return { mediaType, content: new Uint8Array(await response.arrayBuffer()) };
  }

  async #makeRun(): Promise<string> {
    const { namespace, run } = this.#place;
    // Nothing says which record is the last one, and no process is running for them.
    const status = RunStatus.FINISHED;
    const request = { namespace, name: run, aliases: [run], status, getOrCreate: true };
    const answer = await this.#patience.call((options) => this.#server.runs.createRun(request, options));
    return answer.run!.id;
  }

  /** In that very namespace: a run of the same name below it is another one. */
  async #find(column: string) {
    const { namespace, run } = this.#place;
    const query = `alias = ${quoteText(run)} and namespace = ${quoteText(namespace)}`;
    const request = { query, columns: [column], pageSize: 1 };
    const { runs } = await this.#patience.call((options) => this.#server.runs.searchRuns(request, options));
    return runs[0];
  }
}

/**
 * `http://host:4700/langtech/asr/exp-7` is the run `exp-7` of the namespace `langtech/asr`; see `readCairnConfig`. A path that
 * begins with `results/`, as stock TorchX writes it, means the same.
 */
export async function createResultTracker(
  config: string,
  context: ConfigContext = {},
): Promise<CairnResultTracker> {
  const env = { ...(context.env ?? process.env), CAIRN_NAMESPACE: undefined };
  const { server, namespace: path, timeoutMs } = await readCairnConfig(config, { ...context, env });
  const parts = path.replace(/^results\//, "").split("/");
  const run = parts.pop() ?? "";
  if (run === "") {
    throw new Error(`cannot use "${config}" for results: write it as http://HOST:4700/NAMESPACE/RUN`);
  }
  const namespace = parts.join("/") || (context.env ?? process.env)["CAIRN_NAMESPACE"] || "default";
  return new CairnResultTracker(new Cairn(server), { namespace, run }, { timeoutMs });
}

function textOf(key: ResultKey): string {
  const text = String(key);
  if (text === "" || !text.isWellFormed() || (typeof key === "number" && !Number.isSafeInteger(key))) {
    throw new TypeError(`cannot use result key "${text.toWellFormed()}": a key is a text or a whole number`);
  }
  return text;
}

/** A plain assignment of __proto__ would set the prototype. */
function paramOf(name: string, json: string): Record<string, string> {
  return Object.fromEntries([[name, json]]);
}

async function refusal(what: string, response: Response): Promise<Error> {
  const text = await response.text();
  let message = text.slice(0, 200);
  try {
    message = (JSON.parse(text) as { message?: string }).message ?? message;
  } catch {
    // A body that is not JSON is shown as it is.
  }
  return new Error(`${what}: ${message || response.status}`);
}
