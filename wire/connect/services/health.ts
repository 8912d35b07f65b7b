import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { quote } from "#lang/errors.ts";
import { Health, HealthCheckResponse_ServingStatus as Serving } from "#proto/grpc/health/v1/health_pb.ts";

/** Public: balancers and orchestrators have no credential. */
export { Health };

export interface HealthSource {
  /** "" is the server as a whole. undefined: unknown service. */
  serving(service: string): boolean | undefined;
  /** Calls back after any change, until the returned function is called. Throws nothing. */
  subscribe(onChange: () => void): () => void;
}

/** The gRPC health checking protocol. */
export function registerHealth(router: ConnectRouter, source: HealthSource, stopping?: AbortSignal): void {
  router.service(Health, {
    check({ service }) {
      const serving = source.serving(service);
      if (serving === undefined) {
        throw new ConnectError(`cannot check service ${quote(service)}: unknown service`, Code.NotFound);
      }
      return { status: serving ? Serving.SERVING : Serving.NOT_SERVING };
    },
    async *watch({ service }, context) {
      const signal = stopping === undefined ? context.signal : AbortSignal.any([context.signal, stopping]);
      for await (const status of changes(source, service, signal)) yield { status };
    },
  });
}

/**
 * The status now and then each new one. A reader that falls behind misses what was in between, never
 * the last. Ends when the caller disconnects or the server shuts down.
 */
async function* changes(
  source: HealthSource,
  service: string,
  signal: AbortSignal,
): AsyncGenerator<Serving, void> {
  let wake = Promise.withResolvers<void>();
  const ring = (): void => wake.resolve();
  const unsubscribe = source.subscribe(ring);
  signal.addEventListener("abort", ring);
  try {
    let last: Serving | undefined;
    for (;;) {
      wake = Promise.withResolvers<void>();
      const serving = source.serving(service);
      const now =
        serving === undefined ? Serving.SERVICE_UNKNOWN : serving ? Serving.SERVING : Serving.NOT_SERVING;
      if (now !== last) {
        last = now;
        yield now;
      } else if (signal.aborted) return;
      else await wake.promise;
    }
  } finally {
    signal.removeEventListener("abort", ring);
    unsubscribe();
  }
}
