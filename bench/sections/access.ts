import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { systemClock } from "#base/clock.ts";
import { mintToken } from "#core/access/tokens/mint-token.ts";
import type { AccessChange } from "#core/ports/access-store.ts";
import { SearchRunsRequestSchema, SearchRunsResponseSchema } from "#proto/cairn/v1/run_pb.ts";
import { openSqlite } from "#store/sqlite/open.ts";
import { post } from "../client.ts";
import { fillRuns } from "../fill.ts";
import type { Bench } from "../main.ts";
import { milliseconds, quantile } from "../report.ts";
import { startServer } from "../server.ts";

const QUERY = `params.p4 < 8 and metrics.m2.last > 0.2 order by metrics.m1.last desc`;
const ROUNDS = 300;
/** Until code and caches are warm, as in a server that has been up for a minute. */
const WARM_UP = 100;

/**
 * The cost of access checks in a search: 100,000 runs in 10,000 namespaces, of
 * which one caller may read every second, and another also has a thousand runs closed to it. They alternate with the
 * owner, who may read all, so that load of the machine affects all three.
 */
export async function benchAccess({ report, directory, scale }: Bench): Promise<void> {
  const namespaces = 10_000 * scale;
  const ids = fillRuns(directory, 100_000 * scale, 1, namespaces);
  const tokens = await grant(directory, namespaces, ids);
  const server = await startServer(directory);
  const callers = Object.entries({ owner: undefined, ...tokens }).map(([name, token]) => ({
    name,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    latencies: [] as number[],
    found: 0,
  }));
  const wanted = create(SearchRunsRequestSchema, {
    query: QUERY,
    pageSize: 50,
    columns: ["metrics.m1.last"],
  });
  const body = toBinary(SearchRunsRequestSchema, wanted);
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const caller of callers) {
      const began = performance.now();
      const answer = await post(server.port, "RunService/SearchRuns", body, caller.headers);
      caller.found = Number(fromBinary(SearchRunsResponseSchema, answer).totalCount);
      if (round >= WARM_UP) caller.latencies.push(performance.now() - began);
    }
  }
  await server.stop();
  const [owner, ...others] = callers;
  const wholeMs = quantile(owner!.latencies, 0.5);
  for (const { name, latencies, found } of others) {
    const partMs = quantile(latencies, 0.5);
    report.add({
      what: `search through a mask of ${namespaces} namespaces, ${name}, over one without`,
      value: partMs / wholeMs,
      format: (ratio) => `${ratio.toFixed(2)}×`,
      bar: 1.5,
      stretch: 1.1,
      better: "lower",
      notes: `p50 ${milliseconds(partMs)} of ${found} runs, without ${milliseconds(wholeMs)} of ${owner!.found}; p95 ${milliseconds(quantile(latencies, 0.95))}`,
    });
  }
}

/** Writes callers with few rights straight into the store. Returns their tokens. */
async function grant(
  directory: string,
  namespaces: number,
  ids: readonly string[],
): Promise<{ half: string; holes: string }> {
  const store = await openSqlite({ directory, nowUs: () => systemClock.nowUs() });
  const nowUs = systemClock.nowUs();
  const changes: AccessChange[] = [];
  const caller = (name: string): string => {
    const principal = { name, kind: "user", displayName: "", disabled: false, createdUs: nowUs } as const;
    changes.push({ do: "put-principal", principal: { ...principal, password: undefined } });
    for (let i = 0; i < namespaces; i += 2) {
      const scope = { namespace: `bench/n${i}` };
      const binding = { principal: name, role: "viewer", scope, createdUs: nowUs, createdBy: name } as const;
      changes.push({ do: "put-binding", binding });
    }
    const made = { kind: "token", parent: undefined, passwordOf: undefined } as const;
    const bounds = { role: undefined, namespaces: [], expiresUs: undefined };
    const { secret, token } = mintToken({ principal: name, name: "", ...made, ...bounds }, nowUs);
    changes.push({ do: "put-token", token });
    return secret;
  };
  const tokens = { half: caller("half"), holes: caller("holes") };
  // Closed to one of them: the other is bound on the run itself.
  for (let i = 0; i < Math.min(1_000, ids.length / 2); i++) {
    const at = 2 * i;
    const scope = { namespace: `bench/n${at % namespaces}`, runId: ids[at]! };
    changes.push({ do: "set-closed", scope, closed: true });
    const binding = {
      principal: "half",
      role: "viewer",
      scope,
      createdUs: nowUs,
      createdBy: "half",
    } as const;
    changes.push({ do: "put-binding", binding });
  }
  await store.changeAccess(changes, []);
  await store.close();
  return tokens;
}
