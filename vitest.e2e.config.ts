import { defineConfig } from "vitest/config";
import { WORKER_FLAGS } from "./tools/worker-flags.ts";

// These start real servers and kill them: each file in a process of its own. They wait more than they work, so
// there are more of them than cores; suites that measure run alone (tools/suites.ts).
export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    isolate: true,
    setupFiles: ["tools/runner/declared-programs.ts", "tools/seed.ts", "tools/no-uncaught.ts"],
    pool: "forks",
    execArgv: WORKER_FLAGS,
    maxWorkers: 3,
    testTimeout: 300_000,
    // A condition that comes true late on a busy machine is still true.
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 240_000,
  },
});
