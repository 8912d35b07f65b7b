import type { ServiceImpl } from "@connectrpc/connect";
import type { LogService } from "#proto/cairn/v1/log_pb.ts";
import { callerOf, signalOf } from "../context.ts";
import type { ConnectCore } from "../core.ts";
import { fromLogLine, toReadLines, toSearchLines, toTailLines } from "../map/log.ts";

export function logService({ logs }: ConnectCore): ServiceImpl<typeof LogService> {
  return {
    readLog: async (request, context) => {
      const { lines, next, total, more } = await logs.read(callerOf(context), toReadLines(request));
      return { lines: lines.map(fromLogLine), next: BigInt(next), total: BigInt(total), more };
    },
    searchLog: async (request, context) => {
      const found = await logs.search(callerOf(context), toSearchLines(request));
      const { lines, next, more, searched } = found;
      return { lines: lines.map(fromLogLine), next: BigInt(next), more, searched: BigInt(searched) };
    },
    async *tailLog(request, context) {
      const tail = logs.tail(callerOf(context), toTailLines(request), signalOf(context));
      for await (const { lines, next } of tail) {
        yield { lines: lines.map(fromLogLine), next: BigInt(next) };
      }
    },
  };
}
