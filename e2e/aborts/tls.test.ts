import { describe } from "vitest";
import { abortTests } from "./aborts.ts";

describe("TLS --auth", () => abortTests("TLS --auth"));
