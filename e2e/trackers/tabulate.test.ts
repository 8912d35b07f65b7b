import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PythonValue } from "#cli/output/python-text.ts";
import { tabulate } from "#cli/output/tabulate.ts";
import { dose, seed, tally } from "../../tools/dose.ts";
import { pythonCommand } from "../../tools/needs.ts";

const TABLES = dose(500, 10_000);
const SCRIPT = fileURLToPath(new URL("print_tables.py", import.meta.url));

/** Whole floats are left out: this language reads them as integers. */
const float = fc
  .oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.double({ min: -1e7, max: 1e7, noNaN: true }))
  .filter((value) => !Number.isInteger(value));
const text = fc.oneof(
  fc.constantFrom(
    "",
    "1",
    " 7 ",
    "-0.5",
    "1,234",
    "1,234.5",
    ".5",
    "1e3",
    "1e999",
    "nan",
    "Inf",
    "inf",
    "True",
    "False",
    "1_000",
    "12,34",
    "s3://b/x",
    "it's",
  ),
  fc.string({ unit: fc.constantFrom("a", "B", "7", ".", "-", "e", " ", "'", '"', "\\") }),
);
const leaf = fc.oneof(fc.integer(), float, text, fc.boolean(), fc.constant(null));
const value: fc.Arbitrary<PythonValue> = fc.oneof(
  { weight: 6, arbitrary: leaf },
  { weight: 1, arbitrary: fc.array(leaf, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom("a", "b c", "it's"), leaf) },
);
/** Columns are mostly of one kind, as in life. */
const column = fc.constantFrom(
  fc.integer(),
  float,
  fc.oneof(fc.integer(), float, fc.constant(null)),
  text,
  value,
  fc.boolean(),
);
const table = fc
  .tuple(fc.array(column, { minLength: 1, maxLength: 3 }), fc.nat(6))
  .chain(([columns, count]) =>
    fc.tuple(
      fc.constant(columns.map((_, i) => ["ID", "VALUE", "METADATA"][i]!)),
      fc.array(fc.tuple(...columns), { minLength: count, maxLength: count }),
    ),
  );

describe("tables", () => {
  it(`X16 ${TABLES} generated tables are printed as Python's tabulate prints them`, () => {
    const tables = fc.sample(table, { numRuns: TABLES, seed });
    const { stdout, stderr, status } = spawnSync(pythonCommand(), [SCRIPT], {
      input: tables.map((each) => `${JSON.stringify(each)}\n`).join(""),
      encoding: "utf8",
      maxBuffer: 256 << 20,
      timeout: 240_000,
      env: { PATH: process.env["PATH"], PYTHONUTF8: "1" },
    });
    expect(status, stderr).toBe(0);
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as string);
    expect(answers).toHaveLength(TABLES);
    for (const [i, [titles, rows]] of tables.entries()) {
      expect(tabulate(titles, rows), `seed ${seed}, ${JSON.stringify(tables[i])}`).toBe(answers[i]);
    }
    tally("tables", TABLES);
  });
});
