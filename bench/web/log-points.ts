import { mixSeries } from "#base/codec/testing/data-mix.ts";
import { call, connectConnection, type Connection } from "../client.ts";
import { encodeEnvelope } from "../encode.ts";
import type { BenchServer } from "../server.ts";

/** A run that is being logged, with one request at a time. */
export interface LoggedRun {
  id: string;
  /** Appends so many points to each of its metrics, one per second of the run's own clock; answers when they are durable. */
  log(count: number): Promise<void>;
  close(): void;
}

/** Points of all runs that differ only in their noise are made once. */
const LENGTH_MAX = 10_000;

export async function startRun(
  server: BenchServer,
  namespace: string,
  name: string,
  metrics: number,
): Promise<LoggedRun> {
  const { run } = await call<{ run: { id: string } }>(server.url, "RunService/CreateRun", {
    namespace,
    name,
  });
  const connection: Connection = connectConnection(server.port);
  const seed = Number(/\d+$/.exec(name)?.[0] ?? 0) + 1;
  const columns = Array.from({ length: metrics }, (_, i) => mixSeries(i, LENGTH_MAX, seed));
  let [done, seq] = [0, 0];
  return {
    id: run.id,
    async log(count) {
      const [from, to] = [done, Math.min(LENGTH_MAX, done + count)];
      done = to;
      const series = columns.map((all, i) => ({
        key: `metric/${i}`,
        points: {
          count: to - from,
          steps: all.steps!.subarray(from, to),
          times: all.times!.subarray(from, to),
          nanos: undefined,
          values: { kind: "number" as const, data: (all.values.data as Float64Array).subarray(from, to) },
        },
      }));
      await connection.send(encodeEnvelope({ runId: run.id, writer: "bench", seq: ++seq, series }));
    },
    close: () => connection.close(),
  };
}
