import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { WORKER_FLAGS } from "./tools/worker-flags.ts";

/** The longest, by far: what begins last ends alone. */
const LONGEST = "web-layout.test.ts";

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith(LONGEST);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

// Real browsers on servers in memory. Test files of one process share its browser and all modules, which are warm
// after the first; each has a server and browser contexts of its own.
export default defineConfig({
  test: {
    include: ["e2e/browser/**/*.test.ts"],
    globalSetup: ["e2e/browser/build-pages.ts"],
    isolate: false,
    setupFiles: ["tools/runner/declared-programs.ts", "tools/seed.ts", "tools/no-uncaught.ts"],
    sequence: { sequencer: LongestFirst },
    pool: "forks",
    execArgv: WORKER_FLAGS,
    maxWorkers: 3,
    testTimeout: 300_000,
    // A condition that comes true late on a busy machine is still true.
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 240_000,
  },
});
