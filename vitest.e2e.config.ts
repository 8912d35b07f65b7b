import { defineConfig } from "vitest/config";
import { WORKER_FLAGS } from "./tools/worker-flags.ts";

// These start real servers and kill them: one file at a time, each in a process of its own.
export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    isolate: true,
    setupFiles: ["tools/seed.ts", "tools/no-uncaught.ts"],
    pool: "forks",
    execArgv: WORKER_FLAGS,
    fileParallelism: false,
    testTimeout: 300_000,
    // A condition that comes true late on a busy machine is still true.
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 240_000,
  },
});
