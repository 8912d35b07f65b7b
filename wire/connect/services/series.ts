import type { ServiceImpl } from "@connectrpc/connect";
import type { MetricService } from "#proto/cairn/v1/metric_pb.ts";
import { callerOf } from "../context.ts";
import type { ConnectCore } from "../core.ts";
import { fromHost } from "../map/host.ts";
import { fromSeriesInfo, toDeleteRequest, toSelecting } from "../map/series.ts";

type SeriesMethod = "listSeries" | "listLabels" | "deleteSeries" | "listHosts";

/** Lists and deletes series of runs and hosts. */
export function seriesMethods(
  metrics: ConnectCore["metrics"],
): Pick<ServiceImpl<typeof MetricService>, SeriesMethod> {
  return {
    listSeries: async (request, context) => {
      const { glob, regex, pageSize, pageToken } = request;
      const asked = { ...toSelecting(request), glob, regex, pageSize, pageToken };
      const listed = await metrics.list(callerOf(context), asked);
      return {
        series: listed.series.map(fromSeriesInfo),
        nextPageToken: listed.next ?? "",
        totalCount: BigInt(listed.total ?? 0),
      };
    },
    listLabels: async (request, context) => {
      const { label, pageSize, pageToken } = request;
      const asked = { ...toSelecting(request), label, pageSize, pageToken };
      const { texts, nextPageToken, truncated } = await metrics.listLabels(callerOf(context), asked);
      return {
        labels: texts.map(({ text, seriesCount }) => ({ text, seriesCount: BigInt(seriesCount) })),
        nextPageToken,
        truncated,
      };
    },
    deleteSeries: async (request, context) => {
      const { series, points } = await metrics.delete(callerOf(context), toDeleteRequest(request));
      return { series: BigInt(series), points: BigInt(points) };
    },
    listHosts: async ({ under, pageSize, pageToken }, context) => {
      const { hosts, nextPageToken } = await metrics.listHosts(callerOf(context), {
        under,
        pageSize,
        pageToken,
      });
      return { hosts: hosts.map(fromHost), nextPageToken };
    },
  };
}
