import { mergeConfig } from "vitest/config";
import processes from "./vitest.e2e.config.ts";

// Packages are built once, before the first test file.
export default mergeConfig(processes, { test: { globalSetup: ["e2e/packages/build-dist.ts"] } });
