import { Code } from "@connectrpc/connect";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";

/** The metrics that namespaces are judged by; each namespace is asked about once. */
export class Objectives {
  readonly #server: Cairn;
  readonly #known = new Map<string, Promise<string | undefined>>();

  constructor(server: Cairn) {
    this.#server = server;
  }

  /** Of the namespace or the nearest one above it that has an objective. */
  async of(namespace: string): Promise<string[]> {
    for (let path = namespace; path !== ""; path = path.slice(0, Math.max(0, path.lastIndexOf("/")))) {
      const metric = await this.#metricOf(path);
      if (metric !== undefined) return [metric];
    }
    return [];
  }

  #metricOf(path: string): Promise<string | undefined> {
    let asked = this.#known.get(path);
    if (asked === undefined) {
      asked = this.#ask(path);
      this.#known.set(path, asked);
    }
    return asked;
  }

  async #ask(path: string): Promise<string | undefined> {
    try {
      const { objective } = await this.#server.namespaces.getNamespace({ path });
      return objective?.metric;
    } catch (thrown) {
      // A namespace above those one may read is not shown.
      const { code } = Failure.from(thrown);
      if (code === Code.NotFound || code === Code.PermissionDenied) return undefined;
      this.#known.delete(path);
      throw thrown;
    }
  }
}
