import { defineConfig } from "vitest/config";
import { WORKER_FLAGS } from "./tools/worker-flags.ts";

// Two processes share the unit tests. Within one, test files share all modules: they are pure, or own a
// temporary directory each.
export default defineConfig({
  test: {
    include: ["{base,lang,core,wire,store,blob,server,sdk,cli,web,tools}/**/*.test.ts"],
    isolate: false,
    setupFiles: ["tools/runner/declared-programs.ts", "tools/seed.ts", "tools/no-uncaught.ts"],
    pool: "forks",
    execArgv: WORKER_FLAGS,
    maxWorkers: 2,
    testTimeout: 60_000,
    // A condition that comes true late on a busy machine is still true.
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 60_000,
  },
});
