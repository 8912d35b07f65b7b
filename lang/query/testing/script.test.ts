import { describe, expect, test } from "vitest";
import { ReferenceEngine } from "./reference.ts";
import { readScripts, runScript, type ScriptEngine } from "./script.ts";

describe("query scripts on the reference evaluator", () => {
  for (const script of readScripts()) {
    test(script.file, async () => {
      expect(await runScript(script, new ReferenceEngine())).toBeGreaterThan(10);
    });
  }
});

describe("a script fails", () => {
  const load = "load\n  a params.x=1\n  b params.x=2\n";
  const run = (text: string, engine: ScriptEngine = new ReferenceEngine()) =>
    runScript({ file: "t.script", text: load + text }, engine);

  test.each([
    [
      "on another run",
      "query params.x = 1\n  b",
      /t\.script:4: query params\.x = 1\nexpected b .*\nfound {4}a /,
    ],
    ["on a run too many", "query params.x = 1\n  a b", /found {4}a \(total 1\)/],
    ["on another order", "query\n  a b", /found {4}b a/],
    ["on another total", "query\n  total 3\n  b a", /expected b a \(total 3\)/],
    ["on a run where none is expected", "query\n  none", /expected none/],
    ["without an expectation", "query params.x = 1", /expected names of runs/],
    ["on an error", "query params.x =\n  a", /expected a value/],
    ["on a good query", "query params.x = 1\n  error 1 expected", /the query is good/],
    ["on an error elsewhere", "query params.x =\n  error 3 expected", /expected an error at column 3/],
    ["on another error", "query params.x =\n  error 11 nonsense", /with "nonsense"/],
    ["on an unknown command", "qurey params.x = 1\n  a", /unknown command "qurey"/],
    ["on an unknown field of a run", "load\n  a parms.x=1", /unknown field "parms"/],
    ["on a run with a bad value", "load\n  a params.x=resnet", /"resnet" is not a JSON value/],
    ["on a run with a bad time", "load\n  a created=yesterday", /cannot read time "yesterday"/],
  ])("%s", async (_when, text, message) => {
    await expect(run(text)).rejects.toThrow(message);
  });

  test("on pages that repeat a run, lose one or never end", async () => {
    const paged = (pages: string[][], next: (page: number) => string | undefined): ScriptEngine => ({
      load: async () => undefined,
      searchModels: async () => ({ names: [], total: 0 }),
      search: async (_query, { after }) => {
        const page = after === undefined ? 0 : Number(after);
        return { names: pages[page] ?? [], total: 2, next: next(page) };
      },
    });
    const query = "query\n  pages 1\n  b a";
    const upTo = (last: number) => (page: number) => (page < last ? String(page + 1) : undefined);
    expect(await run(query, paged([["b"], ["a"]], upTo(1)))).toBe(1);
    await expect(run(query, paged([["b"], ["b"]], upTo(1)))).rejects.toThrow(/found {4}b b/);
    await expect(run(query, paged([["b"]], upTo(0)))).rejects.toThrow(/found {4}b /);
    await expect(run(query, paged([["b"], ["a"]], upTo(9)))).rejects.toThrow("holds 0 names");
    await expect(run(query, paged([["b"], ["a", "b"]], upTo(1)))).rejects.toThrow("holds 2 names");
  });
});
