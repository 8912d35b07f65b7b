import { describe, expect, it } from "vitest";

import { aliasesFrom, checkFile, checkOrder, findReferences } from "./layers.ts";

const ALIASES = aliasesFrom({
  "#base/*": "./base/*",
  "#lang/*": "./lang/*",
  "#core/*": "./core/*",
  "#proto/*": "./proto/gen/*",
  "#store/*": "./store/*",
  "#server/*": "./server/*",
});

function rules(file: string, specifier: string): string[] {
  return checkFile(file, `import { x } from "${specifier}";`, ALIASES).map((breach) => breach.rule);
}

describe("findReferences", () => {
  it("finds every way to name a file, with its line", () => {
    const text = [
      `import { a } from "./a.ts";`,
      `import type { B } from "#core/b.ts";`,
      `import "./c.ts";`,
      `export { d } from "./d.ts";`,
      `export * from "./e.ts";`,
      `const f = await import("./f.ts");`,
      `type G = import("./g.ts").G;`,
      `new Worker(new URL("./h.ts", import.meta.url));`,
      `import.meta.resolve("#base/i.ts");`,
    ].join("\n");
    expect(findReferences("x/y.ts", text)).toEqual([
      { specifier: "./a.ts", line: 1 },
      { specifier: "#core/b.ts", line: 2 },
      { specifier: "./c.ts", line: 3 },
      { specifier: "./d.ts", line: 4 },
      { specifier: "./e.ts", line: 5 },
      { specifier: "./f.ts", line: 6 },
      { specifier: "./g.ts", line: 7 },
      { specifier: "./h.ts", line: 8 },
      { specifier: "#base/i.ts", line: 9 },
    ]);
  });

  it("ignores comments, strings and other URLs", () => {
    const text = [
      `// import { a } from "./a.ts";`,
      `const s = 'import "./b.ts"';`,
      `new URL("./c.sql", import.meta.url);`,
      `new URL("./d.ts", base);`,
    ].join("\n");
    expect(findReferences("x/y.ts", text)).toEqual([]);
  });

  it("names the file it cannot parse", () => {
    expect(() => findReferences("x/y.ts", "import {")).toThrow("x/y.ts");
  });
});

describe("checkFile", () => {
  it.each([
    ["base/a.ts", "./b.ts"],
    ["base/a.ts", "node:crypto"],
    ["base/a.test.ts", "vitest"],
    ["core/runs/a.ts", "../access/b.ts"],
    ["core/runs/deep/a.ts", "../b.ts"],
    ["core/open-core.ts", "./runs/a.ts"],
    ["core/runs/a.ts", "#base/b.ts"],
    ["core/runs/a.ts", "#lang/errors.ts"],
    ["lang/query/testing/a.ts", "node:fs"],
    ["lang/query/a.ts", "re2js"],
    ["wire/mlflow/a.ts", "../kit/b.ts"],
    ["wire/mlflow/a.ts", "#proto/cairn/v1/run_pb.ts"],
    ["wire/connect/deep/a.ts", "../b.ts"],
    ["store/sqlite/a.ts", "#lang/errors.ts"],
    ["store/sqlite/a.test.ts", "../contract/run-store.ts"],
    ["blob/fs/a.test.ts", "#store/contract/blob-store/blob-store.ts"],
    ["store/contract/a.ts", "fast-check"],
    ["server/testing/a.ts", "vitest"],
    ["wire/kit/testing.ts", "vitest"],
    ["server/a.test.ts", "./testing/b.ts"],
    ["server/a.ts", "#store/sqlite/b.ts"],
    ["server/a.ts", "../wire/connect/b.ts"],
    ["web/src/pages/run/logs/a.ts", "../search.ts"],
    ["web/src/pages/run/logs/a.ts", "../../../panels/charts/b.ts"],
    ["web/src/panels/query/a.ts", "../../data/runs/b.ts"],
    ["web/src/app/a.ts", "../pages/run/b.ts"],
    ["e2e/a.test.ts", "#server/main.ts"],
    ["tools/a.ts", "../package.json"],
    ["vitest.config.ts", "vitest/config"],
  ])("lets %s import %s", (file, specifier) => {
    expect(rules(file, specifier)).toEqual([]);
  });

  it.each([
    ["base/a.ts", "#lang/errors.ts", "base may import nothing of ours besides itself"],
    ["base/a.ts", "zod", "base must do without it"],
    ["base/a.ts", "vitest", "that is for tests"],
    ["lang/a.ts", "#core/runs/b.ts", "lang may import only base"],
    ["lang/a.ts", "node:fs", "lang must do without it"],
    ["core/types/a.ts", "#store/sqlite/b.ts", "core/types may import only lang, base besides itself"],
    ["core/open-core.ts", "#proto/cairn/v1/run_pb.ts", "core/open-core.ts may import only core, lang, base"],
    ["core/runs/a.ts", "@bufbuild/protobuf/wire", "core/runs must do without it"],
    ["core/open-core.ts", "node:http2", "core/open-core.ts must do without it"],
    ["core/types/a.test.ts", "#store/sqlite/b.ts", "core/types may import only lang, base"],
    ["core/access/a.ts", "../runs/b.ts", "core/access may import only"],
    ["core/access/a.test.ts", "../runs/b.ts", "core/access may import only"],
    ["core/ports/a.ts", "#core/access/b.ts", "core/ports may import only core/types, lang, base"],
    ["core/runs/a.ts", "../open-core.ts", "core/runs may import only"],
    ["wire/mlflow/a.ts", "../influx/b.ts", "wire/* may import only"],
    ["wire/kit/a.ts", "../influx/b.ts", "wire/kit may import only"],
    ["store/sqlite/a.ts", "../postgres/b.ts", "store/* may import only"],
    ["store/sqlite/a.ts", "../contract/run-store.ts", "that is for tests"],
    ["server/a.ts", "#store/contract/run-store/run-store.ts", "that is for tests"],
    ["server/a.ts", "./testing/b.ts", "that is for tests"],
    ["server/a.ts", "./testing.ts", "that is for tests"],
    ["server/attesting.ts", "vitest", "that is for tests"],
    ["server/a.ts", "../tools/check.ts", "server may import only"],
    ["store/contract/a.ts", "../sqlite/b.ts", "store/contract may import only"],
    ["blob/fs/a.test.ts", "../memory/b.ts", "blob/* may import only"],
    ["server/a.test.ts", "./b.test.ts", "tests must not be imported"],
    ["wire/mlflow/a.ts", "#server/main.ts", "wire/* may import only"],
    ["core/types/a.ts", "../../vitest.config.ts", "core/types may import only"],
    ["web/src/pages/run/a.ts", "../runs/b.ts", "web/src/pages/* may import only"],
    ["web/src/pages/run/logs/a.ts", "../../runs/b.ts", "web/src/pages/* may import only"],
    ["web/src/pages/run/a.ts", "../../app/b.ts", "web/src/pages/* may import only"],
    ["web/src/panels/query/a.ts", "../charts/b.ts", "web/src/panels/* may import only"],
    ["web/src/widgets/a.ts", "../data/b.ts", "web/src/widgets may import only"],
    ["web/src/widgets/a.ts", "@tanstack/react-query", "web/src/widgets must do without it"],
    ["web/src/data/a.ts", "../charts/b.ts", "web/src/data may import only"],
    ["web/src/app/a.ts", "#core/runs/b.ts", "web/src/app may import only"],
    ["attic/a.ts", "node:fs", "no row in the table"],
    ["core/a.ts", "node:fs", "no row in the table"],
    ["core/attic/a.ts", "node:fs", "no row in the table"],
    ["store/a.ts", "node:fs", "no row in the table"],
  ])("does not let %s import %s", (file, specifier, rule) => {
    expect(rules(file, specifier)).toEqual([expect.stringContaining(rule)]);
  });

  it("does not confuse folders with a common prefix", () => {
    expect(rules("core/types/a.ts", "../../base2/b.ts")).toHaveLength(1);
    expect(rules("wire/kitchen/a.ts", "../kit/b.ts")).toEqual([]);
    expect(rules("wire/kit/a.ts", "../kitchen/b.ts")).toHaveLength(1);
  });

  it("reports the line", () => {
    const text = `\n\nimport type { X } from "#server/x.ts";`;
    expect(checkFile("base/a.ts", text, ALIASES)).toEqual([
      { file: "base/a.ts", line: 3, rule: expect.stringContaining("imports server/x.ts") },
    ]);
  });
});

describe("checkOrder", () => {
  const row = (folder: string, ...may: string[]) => ({ folder, may });

  it("lets a row inside core name rows before it", () => {
    const rows = [row("core/a", "base"), row("core/b", "core/a"), row("core/main.ts", "core")];
    expect(checkOrder(rows)).toEqual([]);
  });

  it.each([
    ["a row after it", [row("core/a", "core/b"), row("core/b", "core/a")]],
    ["a file of a row after it", [row("core/a", "core/b/c.ts"), row("core/b")]],
    ["all of core before the last row", [row("core/a", "core"), row("core/b")]],
  ])("does not let a row inside core name %s", (_, rows) => {
    expect(checkOrder(rows)).toEqual([expect.stringContaining("core/a may import core/b, but")]);
  });

  it("lets other rows name each other", () => {
    expect(checkOrder([row("x", "y", "core"), row("y", "x"), row("core/a")])).toEqual([]);
  });
});
