import type { Registry } from "prom-client";
import { authorize } from "#core/access/caller.ts";
import { CairnError } from "#lang/errors.ts";
import { sendBytes, sendJson } from "#wire/kit/respond.ts";
import type { Route } from "#wire/kit/router.ts";

export interface RouteParts {
  /** Whether new requests are answered, all of them. */
  isReady(): boolean;
  /** Why the server is permanently not ready. */
  failure(): CairnError | undefined;
  /** Loaded at the first request of them. */
  metrics(): Promise<Registry>;
}

/** The plain HTTP routes of the server itself. */
export function serverRoutes(parts: RouteParts): Route[] {
  return [
    {
      method: "GET",
      path: "/healthz",
      permission: "public",
      handler: ({ response }) => sendJson(response, 200, { status: "alive" }),
    },
    {
      method: "GET",
      path: "/readyz",
      permission: "public",
      handler: ({ response }) => {
        const failure = parts.failure();
        // This route is public: the hint, which may name a folder of this machine, is only for the log.
        if (failure !== undefined) {
          const { message, reason = "STORAGE_FAILED" } = failure;
          throw new CairnError("unavailable", message, { reason });
        }
        if (!parts.isReady())
          throw new CairnError("unavailable", "cannot serve now: the server is starting or stopping");
        sendJson(response, 200, { status: "ready" });
      },
    },
    {
      method: "GET",
      path: "/metrics",
      permission: "read",
      handler: async ({ response, caller }) => {
        // It counts all namespaces together.
        authorize(caller);
        const metrics = await parts.metrics();
        sendBytes(response, 200, metrics.contentType, Buffer.from(await metrics.metrics()));
      },
    },
  ];
}
