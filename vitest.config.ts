import { defineConfig } from "vitest/config";

// Unit tests share one process per worker: they are pure, or own a temporary directory each.
export default defineConfig({
  test: {
    include: ["{base,core,wire,store,blob,server,tools}/**/*.test.ts"],
    isolate: false,
    pool: "threads",
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
