/** Two cores on one store, as two servers have it, with as many interleavings as the dose allows. */
import { describe } from "vitest";
import { twoCoresChoresContract } from "#store/contract/two-cores/chores.ts";
import { openInMemory } from "#store/sqlite/testing/under-test.ts";
import { dose } from "../tools/dose.ts";

describe("chores", () => twoCoresChoresContract(openInMemory, dose(60, 1_000)));
