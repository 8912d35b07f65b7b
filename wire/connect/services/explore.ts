import type { ServiceImpl } from "@connectrpc/connect";
import type { ExploreService } from "#proto/cairn/v1/explore_pb.ts";
import { callerOf, heavyOf } from "../context.ts";
import type { ConnectCore } from "../core.ts";
import { fromComparison } from "../map/compare.ts";
import {
  fromFrontier,
  fromImportance,
  fromListedFields,
  toAskedRuns,
  toFieldKinds,
  toGoals,
} from "../map/explore.ts";
import { toRunRef } from "../map/run.ts";

export function exploreService({ comparisons, explore }: ConnectCore): ServiceImpl<typeof ExploreService> {
  return {
    compareRuns: async ({ runs, stats, onlyDifferent, withPatches }, context) => {
      const asked = { runs: runs.map(toRunRef), stats, onlyDifferent, withPatches };
      return fromComparison(await comparisons.compare(callerOf(context), asked, heavyOf(context)));
    },
    listFields: async (request, context) => {
      const { find, valuesMax, pageSize, pageToken } = request;
      const runs = toAskedRuns(request.runs);
      const kinds = toFieldKinds(request.kinds);
      return fromListedFields(
        await explore.listFields(callerOf(context), { runs, kinds, find, valuesMax, pageSize, pageToken }),
      );
    },
    getImportance: async ({ runs, objective }, context) =>
      fromImportance(await explore.importance(callerOf(context), { runs: toAskedRuns(runs), objective })),
    getFrontier: async ({ runs, goals }, context) =>
      fromFrontier(
        await explore.frontier(callerOf(context), { runs: toAskedRuns(runs), goals: toGoals(goals) }),
      ),
  };
}
