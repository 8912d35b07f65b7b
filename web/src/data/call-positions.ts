import type { Transport } from "@connectrpc/connect";

const bySignal = new WeakMap<AbortSignal, Set<string>>();

/** The positions of the answers to all calls that were made with this signal, also of later ones. */
export function callPositions(signal: AbortSignal): ReadonlySet<string> {
  return positionsOf(signal);
}

/** Notes the positions of answers. An interceptor could not: it gets another signal than the caller gave. */
export function withCallPositions(transport: Transport): Transport {
  return {
    unary: async (method, signal, ...rest) => {
      const answer = await transport.unary(method, signal, ...rest);
      const { position } = answer.message as { position?: unknown };
      if (signal !== undefined && typeof position === "string" && position !== "") {
        positionsOf(signal).add(position);
      }
      return answer;
    },
    stream: (...call) => transport.stream(...call),
  };
}

function positionsOf(signal: AbortSignal): Set<string> {
  const known = bySignal.get(signal) ?? new Set();
  bySignal.set(signal, known);
  return known;
}
