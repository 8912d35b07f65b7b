import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { CairnError } from "#lang/errors.ts";
import { answering } from "#wire/kit/answering.ts";
import { LimitedLog } from "./limited-log.ts";

/** Codes of Node for failed connections, which do not affect stored data. */
const OF_CONNECTIONS =
  /^(?:ECONN|EPIPE$|ENOTCONN$|ETIMEDOUT$|EHOSTUNREACH$|ABORT_ERR$|HPE_|ERR_(?:STREAM|HTTP2?|SSL|TLS|SOCKET)_)/;

export interface UncaughtOptions {
  log: Pick<Logger, "debug" | "warn" | "error">;
  /** The state in memory may be inconsistent: nothing may be stored any more. */
  onDoubt(error: CairnError): void;
}

/**
 * The handler of uncaught errors. An error that reaches it is a defect: it is logged with an incident number and fails
 * the request it belongs to. The process continues, since ending it would let one request stop the server for all
 * clients. Changes in progress may be inconsistent: when the error comes neither from a connection nor from a request
 * that only reads, writing stops until a restart.
 *
 * Returns the function that removes the handler.
 */
export function catchUncaught({ log, onDoubt }: UncaughtOptions): () => void {
  // An error that comes with every packet must not fill the disk.
  const limited = new LimitedLog(log);
  const onUncaught = (thrown: unknown, origin: string): void => {
    const incident = randomUUID();
    const request = answering.getStore();
    const isHarmless = isOfConnection(thrown) || request?.writes === false;
    // The stop of writing is always logged: it happens once.
    (isHarmless ? limited : log).error({ incident, origin, err: thrown }, "uncaught error");
    try {
      request?.fail(incident);
    } catch (failure) {
      limited.error({ incident, err: failure }, "cannot end the request of an uncaught error");
    }
    if (!isHarmless) onDoubt(doubt(incident, thrown));
  };
  process.on("uncaughtException", onUncaught);
  return () => process.off("uncaughtException", onUncaught);
}

function isOfConnection(thrown: unknown): boolean {
  const { code } = (thrown ?? {}) as NodeJS.ErrnoException;
  return typeof code === "string" && OF_CONNECTIONS.test(code);
}

function doubt(incident: string, cause: unknown): CairnError {
  const message = `cannot store anything until a restart: the server had an unexpected error (incident ${incident})`;
  return new CairnError("unavailable", message, {
    cause,
    reason: "STATE_IN_DOUBT",
    hint: "restart the server; its log has the error under the incident",
  });
}
