import { createContextKey, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import { ANONYMOUS, authorize, type Caller } from "#core/access/caller.ts";
import type { Permission } from "#core/access/permission.ts";
import { CairnError } from "#core/errors.ts";
import type { ConnectOptions, Sender } from "./core.ts";
import { toConnectError } from "./error.ts";
import { methodName } from "./permission.ts";

const callerKey = createContextKey<Caller>(
  { principal: ANONYMOUS, permission: "administer" },
  { description: "the caller" },
);

export const senderKey = createContextKey<Sender>(
  { address: undefined, headers: {} },
  { description: "who sent the request" },
);

/** Who calls, with the permission of the method that is called. */
export function callerOf(context: HandlerContext): Caller {
  return context.values.get(callerKey);
}

/**
 * Stands before every method: finds out who calls, asks the one place that decides, and says errors in
 * this protocol's words. A method that is not in the table cannot be reached.
 */
export function guard(options: ConnectOptions, permissions: ReadonlyMap<string, Permission>): Interceptor {
  return (next) => async (request) => {
    try {
      const permission = permissions.get(methodName(request.method));
      request.contextValues.set(callerKey, identify(options, permission, request.contextValues.get(senderKey)));
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: translated(response.message, options) };
    } catch (thrown) {
      throw toConnectError(thrown, options.onFailure);
    }
  };
}

export function identify(
  options: ConnectOptions,
  permission: Permission | undefined,
  sender: Sender,
): Caller {
  if (permission === undefined) throw new CairnError("forbidden", "cannot call a method without a permission");
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
