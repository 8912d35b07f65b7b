import { describe } from "vitest";
import { abortTests } from "./aborts.ts";

describe("disk --auth", () => abortTests("disk --auth"));
