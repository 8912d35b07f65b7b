import type { Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import type { ReadPositions } from "#core/watch/read-positions.ts";
import type { MethodTraits } from "../open-call.ts";
import { methodName } from "../permission.ts";

/** Puts the position of before the read into the answers that have one. */
export function withPosition(
  positions: ReadPositions,
  methods: ReadonlyMap<string, MethodTraits>,
): Interceptor {
  return (next) => async (request) => {
    if (methods.get(methodName(request.method))?.saysPosition !== true) return next(request);
    const position = positions.now();
    const response = await next(request);
    if (!response.stream) (response.message as Message & { position: string }).position = position;
    return response;
  };
}
