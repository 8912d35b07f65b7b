import type { Artifacts } from "../artifacts/artifacts.ts";
import type { Runs } from "../runs/runs.ts";
import type { Chore } from "./chores.ts";

const SOON_MS = 5_000;
const EXPIRE_MS = 600_000;
const DAY_MS = 86_400_000;

/** All chores. */
export function choreList({ runs, artifacts }: { runs: Runs; artifacts: Artifacts }): Chore[] {
  return [
    {
      name: "look for lost runs",
      everyMs: SOON_MS,
      // After a restart runs have this long to send a heartbeat.
      firstAfterMs: SOON_MS,
      run: () => runs.expireHeartbeats(),
    },
    { name: "destroy unused content", everyMs: SOON_MS, run: () => artifacts.sweep.collect() },
    { name: "drop uploads that were given up", everyMs: EXPIRE_MS, run: () => artifacts.uploads.expire() },
    { name: "destroy old versions", everyMs: EXPIRE_MS, run: () => artifacts.replaced.expire() },
    {
      name: "look for content without an artifact",
      everyMs: DAY_MS,
      run: () => artifacts.sweep.sweepOrphans(),
    },
  ];
}
