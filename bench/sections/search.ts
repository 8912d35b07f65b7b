import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { SearchRunsRequestSchema, SearchRunsResponseSchema } from "#proto/cairn/v1/run_pb.ts";
import { post } from "../client.ts";
import { fillRuns } from "../fill.ts";
import type { Bench } from "../main.ts";
import { megabytes, milliseconds, quantile, seconds } from "../report.ts";
import { startServer } from "../server.ts";

const QUERIES = {
  common: `params.p4 < 8 and params.p3 != "v1" and metrics.m2.last > 0.2 order by metrics.m1.last desc`,
  rare: `params.p18 = 3 and params.p19 = "v2" and metrics.m2.last > 0.9 order by metrics.m1.last desc`,
  none: `params.p4 = 8 and params.p3 = "nothing" and metrics.m2.last > 2 order by metrics.m1.last desc`,
  all: `metrics.m3.last >= 0 order by metrics.m4.last asc`,
};
const ROUNDS = 200;
/** Until code and caches are warm, as in a server that has been up for a minute. */
const WARM_UP = 50;

/** Top 50 among very many runs, through the API: two params, a metric range, any keys. */
export async function benchSearch({ report, directory, scale }: Bench): Promise<void> {
  const sizes = [
    { runs: 100_000 * scale, label: "100k", bar: 5, stretch: 2 },
    { runs: 1_000_000 * scale, label: "1M", bar: 30, stretch: 15, restartBar: 5 },
  ];
  for (const { runs, label, bar, stretch, restartBar } of sizes) {
    const data = `${directory}/${label}`;
    fillRuns(data, runs, 1);
    const server = await startServer(data);
    const all: string[] = [];
    const latencies: number[] = [];
    for (const [name, query] of Object.entries(QUERIES)) {
      const own: number[] = [];
      for (let i = 0; i < ROUNDS; i++) {
        const began = performance.now();
        const wanted = create(SearchRunsRequestSchema, { query, pageSize: 50, columns: ["metrics.m1.last"] });
        const answer = await post(
          server.port,
          "RunService/SearchRuns",
          toBinary(SearchRunsRequestSchema, wanted),
        );
        fromBinary(SearchRunsResponseSchema, answer);
        if (i >= WARM_UP) own.push(performance.now() - began);
      }
      all.push(`${name} p50 ${quantile(own, 0.5).toFixed(1)} p95 ${quantile(own, 0.95).toFixed(1)}`);
      latencies.push(...own);
    }
    report.add({
      what: `run search, top 50 of ${label} runs, p95`,
      value: quantile(latencies, 0.95),
      format: milliseconds,
      bar,
      stretch,
      better: "lower",
      notes: `${all.join("; ")}; start ${seconds(server.startMs / 1000)}, ${megabytes(server.rssBytes())}`,
    });
    await server.stop();
    if (restartBar === undefined) continue;
    const again = await startServer(data);
    report.add({
      what: `start to ready after a stop, ${label} runs`,
      value: again.startMs / 1000,
      format: seconds,
      bar: restartBar,
      better: "lower",
      notes: `${megabytes(again.rssBytes())} after the start`,
    });
    await again.stop();
  }
}
