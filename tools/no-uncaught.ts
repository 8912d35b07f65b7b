/**
 * Loaded before every test file: fails it when a server that it started had an uncaught error. Vitest
 * itself does the same for servers inside the test's own process.
 */
import { afterAll, expect } from "vitest";
import { uncaughtLines } from "#server/testing/child.ts";

afterAll(() => {
  expect(uncaughtLines.splice(0), "uncaught errors in servers of this file").toEqual([]);
});
