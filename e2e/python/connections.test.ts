import { it } from "vitest";
import { runPythonTests } from "./python.ts";

it("Y11 refuses garbage as an answer, and has a deadline, a proxy, IPv6 and TLS", () =>
  runPythonTests(["tests.test_client"], { skipsMax: 1 }));
