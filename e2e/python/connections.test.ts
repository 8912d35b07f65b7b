import { it } from "vitest";
import { runPythonTests } from "./python.ts";

it("Y11 takes no garbage for an answer, and has a deadline, a proxy, IPv6 and TLS", () =>
  runPythonTests(["tests.test_client"], { skipsMax: 1 }));
