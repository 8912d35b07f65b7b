import type { ServiceImpl } from "@connectrpc/connect";
import type { WatchService } from "#proto/cairn/v1/watch_pb.ts";
import { callerOf } from "../context.ts";
import type { ConnectCore } from "../core.ts";
import { fromWatchEvent, toWatchRequest } from "../map/watch.ts";

export function watchService({ watches }: ConnectCore): ServiceImpl<typeof WatchService> {
  return {
    async *watch(request, context) {
      const events = watches.watch(callerOf(context), toWatchRequest(request), context.signal);
      for await (const event of events) yield fromWatchEvent(event);
    },
  };
}
