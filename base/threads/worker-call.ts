/**
 * Calls between threads over a MessagePort or a Worker. An API is a record of functions:
 *
 *   interface Sums { add(a: number, b: number): number }
 *   serveCalls<Sums>(parentPort, { add: (a, b) => a + b }, toPlain);
 *   const sums = new Caller<Sums>(worker, fromPlain, () => new Error("the worker has ended"));
 *   await sums.call("add", [1, 2]);
 *
 * Calls are handled in the order they were made, answers come when they are ready. Errors cross as
 * the data `toPlain` makes of them: structured clone would strip them of their class.
 *
 * A call with a signal can be cancelled: it is then rejected at once, and the other thread does not begin it, or stops
 * where it calls `throwIfCancelled`.
 */
import type { MessagePort } from "node:worker_threads";
import { type CancelFlag, newCancelFlag, setCancelled, whileNotCancelled } from "./cancellation.ts";

/** What MessagePort, Worker and parentPort have in common. */
export interface Endpoint {
  postMessage(message: unknown, transfer?: readonly Handed[]): void;
  on(event: string, listener: Listener): unknown;
}

/** What is handed over instead of being copied. */
type Handed = ArrayBuffer | MessagePort;

/** Written as a method, so that a listener may name what it expects. */
type Listener = { listen(value: unknown): void }["listen"];
type Method = (...args: never[]) => unknown;
type Served<V> = V | Transferred<V>;
type Answer<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never;

/** Returned by a handler to hand the buffers of its result over instead of copying them. */
export class Transferred<V> {
  readonly value: V;
  readonly transfer: readonly Handed[];

  constructor(value: V, transfer: readonly Handed[]) {
    this.value = value;
    this.transfer = transfer;
  }
}

/** What a thread serves an API with: each answer at once, later, or with buffers to hand over. */
export type Handlers<Api> = {
  [M in keyof Api]: Api[M] extends (...args: infer A) => unknown
    ? (...args: A) => Served<Answer<Api[M]>> | Promise<Served<Answer<Api[M]>>>
    : never;
};

type Request = [id: number, method: string, args: never[], cancelled?: CancelFlag];

export interface CallOptions {
  /** Buffers inside the arguments that are transferred, not copied. */
  transfer?: readonly Handed[] | undefined;
  /** Cancels the call. Only for work without side effects: how far it came is not known. */
  signal?: AbortSignal | undefined;
}

/** `port` answers from now on. A handler that throws, or whose answer cannot be cloned, refuses that call. */
export function serveCalls<Api>(
  port: Endpoint,
  handlers: Handlers<Api>,
  toPlain: (thrown: unknown) => unknown,
): void {
  const methods = handlers as Record<string, Method>;
  const refuse = (id: number, thrown: unknown): void => port.postMessage([id, false, toPlain(thrown)]);
  const answer = (id: number, result: unknown): void => {
    try {
      if (result instanceof Transferred) port.postMessage([id, true, result.value], result.transfer);
      else port.postMessage([id, true, result]);
    } catch (thrown) {
      refuse(id, thrown);
    }
  };
  port.on("message", ([id, method, args, cancelled]: Request) => {
    try {
      const result = whileNotCancelled(cancelled, () => methods[method]!(...args));
      if (result instanceof Promise) {
        result.then(
          (value: unknown) => answer(id, value),
          (thrown: unknown) => refuse(id, thrown),
        );
      } else answer(id, result);
    } catch (thrown) {
      refuse(id, thrown);
    }
  });
}

/**
 * The calling end. When the other thread fails, ends or closes its port, every call that waits and
 * every later one is rejected with what `ended` makes of the cause.
 */
export class Caller<Api> {
  readonly #port: Endpoint;
  readonly #pending = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  #nextId = 0;
  #failure: Error | undefined;

  constructor(port: Endpoint, fromPlain: (plain: never) => Error, ended: (cause: unknown) => Error) {
    this.#port = port;
    port.on("message", ([id, ok, value]: [number, boolean, never]) => {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (ok) pending?.resolve(value);
      else pending?.reject(fromPlain(value));
    });
    for (const event of ["error", "messageerror", "exit", "close"]) {
      port.on(event, (cause: unknown) => this.fail(ended(cause)));
    }
  }

  /** Whether every call is rejected from now on. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  call<M extends keyof Api & string>(
    method: M,
    args: Api[M] extends (...args: infer A) => unknown ? A : never,
    { transfer, signal }: CallOptions = {},
  ): Promise<Answer<Api[M]>> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) throw this.#failure;
      const id = this.#nextId++;
      if (signal === undefined) {
        this.#port.postMessage([id, method, args], transfer);
        this.#pending.set(id, { resolve, reject });
        return;
      }
      signal.throwIfAborted();
      const cancelled = newCancelFlag();
      const giveUp = (): void => {
        setCancelled(cancelled);
        this.#pending.delete(id);
        reject(signal.reason as Error);
      };
      const settled = (): void => signal.removeEventListener("abort", giveUp);
      this.#port.postMessage([id, method, args, cancelled], transfer);
      this.#pending.set(id, {
        resolve: (value) => {
          settled();
          resolve(value);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      signal.addEventListener("abort", giveUp);
    });
  }

  /** Rejects pending calls and all later ones. The first failure is kept. */
  fail(error: Error): void {
    this.#failure ??= error;
    for (const pending of this.#pending.values()) pending.reject(this.#failure);
    this.#pending.clear();
  }
}
