import { retryFacts } from "../../failure.ts";
import { retry } from "../../retry.ts";
import { MLflowError } from "./mlflow-error.ts";

/** Of one request, and of all attempts at it together. */
const REQUEST_MS_MAX = 20_000;
const ATTEMPTS_MS_MAX = 45_000;
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;
const MESSAGE_CHARACTERS_MAX = 300;

type Environment = Readonly<Record<string, string | undefined>>;

export interface MLflowRestOptions {
  env?: Environment;
  requestMs?: number;
  attemptsMs?: number;
}

export interface RequestOptions {
  method?: "GET" | "POST";
  /** Whether a second attempt does no harm when the first may have worked. */
  repeatable?: boolean;
}

type Params = Readonly<Record<string, unknown>>;

/**
 * MLflow's REST API over HTTP: calls with deadlines, repeated while that may help, errors with MLflow's own codes.
 * Credentials are those of the Python client: MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and _PASSWORD.
 */
export class MLflowRest {
  readonly url: string;
  readonly #authorization: string | undefined;
  readonly #requestMs: number;
  readonly #attemptsMs: number;

  constructor(url: string, { env = process.env, requestMs, attemptsMs }: MLflowRestOptions = {}) {
    const { user, password, bare } = splitCredentials(url);
    this.url = bare;
    this.#authorization = authorizationOf(env, user, password);
    this.#requestMs = requestMs ?? REQUEST_MS_MAX;
    this.#attemptsMs = attemptsMs ?? ATTEMPTS_MS_MAX;
  }

  /** `path` is what comes after `/api/2.0/mlflow/`. */
  async call<T>(
    path: string,
    params: Params,
    { method = "POST", repeatable = true }: RequestOptions = {},
  ): Promise<T> {
    const url = `${this.url}/api/2.0/mlflow/${path}`;
    const send = () =>
      method === "GET"
        ? this.#fetch(`${url}?${queryOf(params)}`, {})
        : this.#fetch(url, {
            method,
            headers: { "content-type": "application/json" },
            body: JSON.stringify(params),
          });
    return (await this.#attempts(send, path, repeatable)) as T;
  }

  /** Every item of all pages. `field` is the name of the list in an answer. */
  async *pages<T>(path: string, params: Params, field: string, options?: RequestOptions): AsyncIterable<T> {
    let token: string | undefined;
    do {
      const page = token === undefined ? params : { ...params, page_token: token };
      const answer = await this.call<Record<string, unknown>>(path, page, options);
      yield* (answer[field] ?? []) as T[];
      const next = answer["next_page_token"];
      // A server that returns the same page again would make this loop endless.
      token = typeof next === "string" && next !== "" && next !== token ? next : undefined;
    } while (token !== undefined);
  }

  /** Content of files: `path` begins with "/". `open` is called again for every attempt. */
  async put(
    path: string,
    open: () => { body: NonNullable<RequestInit["body"]>; headers: Record<string, string> },
    deadlineMs: number,
  ): Promise<void> {
    const send = () => {
      const { body, headers } = open();
      return this.#fetch(this.url + path, { method: "PUT", body, headers, duplex: "half" }, deadlineMs);
    };
    await this.#attempts(send, path, true, Math.max(this.#attemptsMs, deadlineMs));
  }

  async getPlain<T>(path: string, params: Params): Promise<T> {
    return (await this.#attempts(
      () => this.#fetch(`${this.url}${path}?${queryOf(params)}`, {}),
      path,
      true,
    )) as T;
  }

  #fetch(url: string, init: RequestInit, timeoutMs = this.#requestMs): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#authorization !== undefined) headers.set("authorization", this.#authorization);
    // A credential must not follow a redirect to somewhere else.
    return fetch(url, { redirect: "error", ...init, headers, signal: AbortSignal.timeout(timeoutMs) });
  }

  async #attempts(
    send: () => Promise<Response>,
    what: string,
    repeatable: boolean,
    totalMs = this.#attemptsMs,
  ): Promise<unknown> {
    const attempt = async () => {
      try {
        return await answerOf(await send(), what);
      } catch (thrown) {
        throw isOfNetwork(thrown) ? unreachable(this.url, thrown) : thrown;
      }
    };
    return repeatable ? retry(attempt, { patienceMs: totalMs }) : attempt();
  }
}

async function answerOf(response: Response, what: string): Promise<unknown> {
  const text = await readText(response);
  let body: unknown;
  try {
    body = text === "" ? {} : JSON.parse(text);
  } catch {
    body = undefined;
  }
  if (response.ok && typeof body === "object" && body !== null) return body;
  const error = (body ?? {}) as { error_code?: unknown; message?: unknown };
  const reason =
    typeof error.error_code === "string"
      ? error.error_code
      : response.status === 404
        ? "ENDPOINT_NOT_FOUND"
        : "";
  const words =
    typeof error.message === "string"
      ? error.message
      : response.ok
        ? "its answer is not JSON"
        : response.statusText;
  throw new MLflowError(`MLflow refuses "${what}" with ${response.status} ${reason}: ${firstLine(words)}`, {
    reason,
    status: response.status,
    facts: retryFacts(response.headers),
  });
}

/** Servers add SQL and traces below the first line. */
function firstLine(text: string): string {
  const line = text.split("\n", 1)[0]!;
  return line.length > MESSAGE_CHARACTERS_MAX ? `${line.slice(0, MESSAGE_CHARACTERS_MAX)}…` : line;
}

async function readText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.byteLength;
    if (size > ANSWER_BYTES_MAX) {
      throw new MLflowError(`MLflow answers with more than ${ANSWER_BYTES_MAX} bytes`, {
        reason: "TOO_LARGE",
        status: 413,
      });
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** What fetch throws, and the body of an answer that breaks off. */
function isOfNetwork(thrown: unknown): boolean {
  if (thrown instanceof DOMException) return thrown.name === "TimeoutError";
  return thrown instanceof TypeError && thrown.cause instanceof Error;
}

function unreachable(url: string, thrown: unknown): MLflowError {
  let cause: unknown = thrown;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  const words = cause instanceof Error ? cause.message || cause.name : String(cause);
  return new MLflowError(
    `cannot reach MLflow at ${url}: ${words}; start one with \`mlflow server\`, or name another in MLFLOW_TRACKING_URI`,
    { reason: "UNREACHABLE", status: 0, cause: thrown },
  );
}

function queryOf(params: Params): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (typeof value === "string" || typeof value === "number") query.append(key, String(value));
  }
  return query.toString();
}

function splitCredentials(url: string): { user: string; password: string; bare: string } {
  const parsed = new URL(url);
  const user = decodeURIComponent(parsed.username);
  const password = decodeURIComponent(parsed.password);
  return { user, password, bare: (parsed.origin + parsed.pathname).replace(/\/+$/, "") };
}

function authorizationOf(env: Environment, user: string, password: string): string | undefined {
  const name = user || env["MLFLOW_TRACKING_USERNAME"];
  if (name) {
    const secret = user ? password : (env["MLFLOW_TRACKING_PASSWORD"] ?? "");
    return `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`;
  }
  const token = env["MLFLOW_TRACKING_TOKEN"];
  return token ? `Bearer ${token}` : undefined;
}
