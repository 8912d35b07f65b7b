import { ConnectError, createContextKey, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import { ANONYMOUS, authorize, type Caller } from "#core/access/caller.ts";
import type { Permission } from "#core/access/permission.ts";
import { CairnError } from "#core/errors.ts";
import type { Envelope } from "#core/model/envelope.ts";
import type { ConnectOptions, Sender } from "./core.ts";
import { toConnectError } from "./error.ts";
import { methodName } from "./permission.ts";

const callerKey = createContextKey<Caller>(
  { principal: ANONYMOUS, permission: "administer" },
  { description: "the caller" },
);

/** Envelopes of this request that are decoded already, in their order. */
export const receivedKey = createContextKey<Envelope[]>([], { description: "decoded envelopes" });

export const senderKey = createContextKey<Sender>(
  { address: undefined, headers: {} },
  { description: "who sent the request" },
);

/** Who calls, with the permission of the method that is called. */
export function callerOf(context: HandlerContext): Caller {
  return context.values.get(callerKey);
}

/**
 * Stands before every method, and before its body is read: finds out who calls and asks the one place
 * that decides. A method that is not in the table cannot be reached.
 */
export function gate(
  options: ConnectOptions,
  permissions: ReadonlyMap<string, Permission>,
): (context: HandlerContext) => void {
  return ({ method, values }) => {
    try {
      values.set(callerKey, identify(options, permissions.get(methodName(method)), values.get(senderKey)));
    } catch (thrown) {
      throw toConnectError(thrown, options.onFailure);
    }
  };
}

/** Keeps to the caller's deadline and says errors in this protocol's words. */
export function translate(options: ConnectOptions): Interceptor {
  return (next) => async (request) => {
    try {
      const response = await (request.stream ? next(request) : untilAborted(next(request), request.signal));
      if (!response.stream) return response;
      return { ...response, message: translated(response.message, options) };
    } catch (thrown) {
      throw toConnectError(thrown, options.onFailure);
    }
  };
}

/** The work itself goes on: a caller that gave up must ask again to learn how it went. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      const { reason } = signal as { reason: unknown };
      const gone = new CairnError("aborted", "cannot answer: the client went away", { cause: reason });
      reject(reason instanceof ConnectError ? reason : gone);
    };
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

export function identify(
  options: ConnectOptions,
  permission: Permission | undefined,
  sender: Sender,
): Caller {
  if (permission === undefined)
    throw new CairnError("forbidden", "cannot call a method without a permission");
  const caller = { principal: options.authenticate(sender), permission };
  authorize(caller, "");
  return caller;
}

/** A stream fails after its handler has returned, so its errors are said here. */
async function* translated<M>(messages: AsyncIterable<M>, options: ConnectOptions): AsyncGenerator<M> {
  try {
    yield* messages;
  } catch (thrown) {
    throw toConnectError(thrown, options.onFailure);
  }
}
