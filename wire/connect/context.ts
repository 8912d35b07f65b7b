import { create, type Message } from "@bufbuild/protobuf";
import { ConnectError, createContextKey, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import { ANONYMOUS, authorizeCall, type Caller } from "#core/access/caller.ts";
import { CairnError } from "#lang/errors.ts";
import type { Envelope } from "#core/types/envelope.ts";
import { AT_ONCE, type BeginHeavy } from "#core/quota/heavy-answer.ts";
import { identify } from "#wire/kit/identify.ts";
import type { Sender } from "#wire/kit/sender.ts";
import type { ConnectOptions } from "./core.ts";
import { toConnectError } from "./error.ts";
import { interruptible } from "#base/interruptible.ts";
import type { MethodTraits, OpenCall } from "./open-call.ts";
import { methodName } from "./permission.ts";

const callerKey = createContextKey<Caller>(
  { ...ANONYMOUS, permission: "administer" },
  { description: "the caller" },
);

/** Envelopes of this request that are decoded already, in their order. */
export const receivedKey = createContextKey<Envelope[]>([], { description: "decoded envelopes" });

/** Those of a message that holds many; undefined where it is not decoded yet. */
export const receivedManyKey = createContextKey<(Envelope | CairnError)[] | undefined>(undefined, {
  description: "many decoded envelopes",
});

export const senderKey = createContextKey<Sender>(
  { address: undefined, headers: {}, connection: undefined },
  { description: "who sent the request" },
);

/** Whether the gate was passed before the generic stack was asked. */
const admittedKey = createContextKey<boolean>(false, { description: "admitted" });

/** The answer of a call with a single one, which the generic stack gets to see only as an empty message. */
export const answerKey = createContextKey<Message | undefined>(undefined, { description: "the answer" });

/** The shared resources that the call holds; undefined where nothing is counted. */
export const openCallKey = createContextKey<OpenCall | undefined>(undefined, { description: "open call" });

/** The caller, with the permission of the called method. */
export function callerOf(context: HandlerContext): Caller {
  return context.values.get(callerKey);
}

/** Aborted when the client disconnects, with the error that core throws for it. */
export function signalOf({ signal }: HandlerContext): AbortSignal {
  const gone = new AbortController();
  const abort = (): void =>
    gone.abort(
      new CairnError("aborted", "cannot answer: the client disconnected", {
        cause: signal.reason as unknown,
      }),
    );
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return gone.signal;
}

/** How the call loads an answer that turns out to be large. */
export function heavyOf(context: HandlerContext): BeginHeavy {
  return context.values.get(openCallKey)?.beginHeavy ?? AT_ONCE;
}

/**
 * Runs before every method, and before its body is read: authenticates the caller, checks its permission in the one
 * place that decides, and whether there is room for one more call. A method that is not in the table cannot be reached.
 */
export function gate(
  options: ConnectOptions,
  methods: ReadonlyMap<string, MethodTraits>,
): (context: Pick<HandlerContext, "method" | "values">) => Promise<void> {
  return async ({ method, values }) => {
    if (values.get(admittedKey)) return;
    try {
      const traits = methods.get(methodName(method));
      const sender = values.get(senderKey);
      const { caller, account } = await identify(options, traits?.permission, sender);
      const call = values.get(openCallKey);
      if (traits !== undefined) call?.admit(account, traits, options, sender.headers);
      values.set(callerKey, { ...caller, signal: call?.signal });
      values.set(admittedKey, true);
    } catch (thrown) {
      throw toConnectError(thrown, options.onFailure);
    }
  };
}

/** Applies the caller's deadline and translates errors for this protocol. */
export function translate(options: ConnectOptions): Interceptor {
  return (next) => async (request) => {
    const call = request.contextValues.get(openCallKey);
    const begin = async () => {
      await call?.startWork();
      return next(request);
    };
    try {
      const response = await (request.stream ? next(request) : untilAborted(begin(), request.signal, call));
      if (!response.stream) {
        request.contextValues.set(answerKey, response.message);
        return { ...response, message: create(response.method.output) };
      }
      const caller = request.contextValues.get(callerKey);
      const allowed = whileAllowed(response.message, caller, options);
      return { ...response, message: translated(allowed, options) };
    } catch (thrown) {
      throw toConnectError(thrown, options.onFailure);
    }
  };
}

/** Writes continue: a caller that disconnected must retry to get the outcome. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal, call: OpenCall | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      call?.close();
      const { reason } = signal as { reason: unknown };
      const gone = new CairnError("aborted", "cannot answer: the client disconnected", { cause: reason });
      reject(reason instanceof ConnectError ? reason : gone);
    };
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/**
 * A stream ends when its caller loses the right to it, also while it is idle: a revoked token keeps no
 * connection open.
 */
function whileAllowed<M>(
  messages: AsyncIterable<M>,
  caller: Caller,
  { core }: ConnectOptions,
): AsyncGenerator<M> {
  return interruptible(messages, (interrupt) =>
    core.access.onChange(() => {
      try {
        authorizeCall(caller);
      } catch (thrown) {
        interrupt(CairnError.from(thrown));
      }
    }),
  );
}

/** A stream fails after its handler has returned, so its errors are translated here. */
async function* translated<M>(messages: AsyncIterable<M>, options: ConnectOptions): AsyncGenerator<M> {
  try {
    yield* messages;
  } catch (thrown) {
    throw toConnectError(thrown, options.onFailure);
  }
}
