import { describe, it } from "vitest";
import { usePythonTests } from "./python.ts";

const tests = usePythonTests();

describe("the Python client and its processes", () => {
  it("Y7, R11: survives kills and outages, ends soon without a server, and `cairn sync` delivers the rest", () =>
    tests("test_outage"));

  it("Y8 logs from forked children, children of multiprocessing and threads", () =>
    tests("test_processes.ForkTest"));

  it("Y209 leaves its last lines, with the traceback", () => tests("test_last_lines"));

  it("Y9 ends with its process, however that ends", () => tests("test_critical", "test_processes.EndTest"));
});
