import { AsyncLocalStorage } from "node:async_hooks";
import type { Permission } from "#core/access/permission.ts";

/**
 * The request on whose behalf code runs. Known also to an error that nobody caught, so that it can fail this
 * one request and nothing else.
 */
export interface Answering {
  /** Whether it may have changed anything. */
  writes: boolean;
  /** Ends the request without a proper answer. */
  fail(incident: string): void;
}

export const answering = new AsyncLocalStorage<Answering>();

/** To be called when it is known what the current request is for. */
export function noteCall(permission: Permission): void {
  const request = answering.getStore();
  if (request !== undefined && permission !== "read" && permission !== "public") request.writes = true;
}
