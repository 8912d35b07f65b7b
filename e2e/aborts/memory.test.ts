import { describe } from "vitest";
import { abortTests } from "./aborts.ts";

describe("memory", () => abortTests("memory"));
