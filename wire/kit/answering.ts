import { AsyncLocalStorage } from "node:async_hooks";
import type { Permission } from "#core/types/permission.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { failExchange } from "#wire/kit/respond.ts";

/**
 * The request on whose behalf code runs. Also available for an uncaught error, so that only this
 * request fails.
 */
class Answering {
  #fail: ((incident: string) => void) | undefined;
  #writes = false;

  /** `fail` ends the request without a proper answer. */
  constructor(fail: (incident: string) => void) {
    this.#fail = fail;
  }

  /** Whether it may have changed anything. */
  get writes(): boolean {
    return this.#writes;
  }

  /** To be called when it is known what the request is for. */
  note(permission: Permission): void {
    if (permission !== "read" && permission !== "public") this.#writes = true;
  }

  fail(incident: string): void {
    this.#fail?.(incident);
  }

  /** The request is over. A timer that was set for it would otherwise hold all of it. */
  end(): void {
    this.#fail = undefined;
  }
}

export const answering = new AsyncLocalStorage<Answering>();

/**
 * `work` on behalf of this request. It costs too much for requests that come thousands of times a second; the
 * few methods that take those catch all of their errors in one place.
 */
export function whileAnswering<T>(request: HttpRequest, response: HttpResponse, work: () => T): T {
  const exchange = new Answering((incident) => failExchange(request, response, incident));
  response.once("close", () => exchange.end());
  return answering.run(exchange, work);
}
