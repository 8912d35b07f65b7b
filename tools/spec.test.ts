import { describe, expect, it } from "vitest";

import { compare, compareThreats, findTitles, parseRules, rulesOf } from "./spec.ts";

describe("parseRules", () => {
  it("finds list items that begin with a bold number", () => {
    const spec = [
      "# Writes",
      "- **W1** one",
      "  text of W1, see **W2**",
      "  - **W1.1** inner",
      "* **XY12** other",
    ];
    expect(parseRules(new Map([["wire/SPEC.md", spec.join("\n")]]))).toEqual([
      { id: "W1", place: "wire/SPEC.md:2" },
      { id: "W1.1", place: "wire/SPEC.md:4" },
      { id: "XY12", place: "wire/SPEC.md:5" },
    ]);
  });

  it("does not treat bold words as rules", () => {
    const text = "- **Run** one execution\n- W1 not bold\n**W2** not in a list";
    expect(parseRules(new Map([["a/SPEC.md", text]]))).toEqual([]);
  });

  it("refuses a duplicate number, one that is not a rule id, and one whose letter another file has", () => {
    const parse = (...texts: string[]) =>
      parseRules(new Map(texts.map((text, index) => [`${index}/SPEC.md`, text])));
    expect(() => parse("- **W1** a\n- **W1** b")).toThrow("0/SPEC.md:2: W1 is already at 0/SPEC.md:1");
    expect(() => parse("- **W1** a", "- **W1** b")).toThrow("1/SPEC.md:1: W1 is already at 0/SPEC.md:1");
    expect(() => parse("- **W1** a", "- **W2** b")).toThrow("1/SPEC.md:1: rules with W are in 0/SPEC.md");
    expect(() => parse("- **RULE1** a")).toThrow("not a rule id");
    expect(() => parse("- **W1.2.3** a")).toThrow("not a rule id");
  });
});

describe("findTitles", () => {
  it("finds every form of a test that runs", () => {
    const text = [
      'it("A1 plain", () => {});',
      'test("A2 test", () => {});',
      'it.only("A3 only", () => {});',
      'it.each([1, 2])("A4 each %i", () => {});',
      'it.runIf(linux)("A5 runIf", () => {});',
      'it.concurrent.each`a`("A6 table", () => {});',
      "it(`A7 template ${name} end`, () => {});",
      'describe("x", () => { for (const a of b) it("A8 nested", () => {}); });',
    ].join("\n");
    expect(findTitles("x.test.ts", text)).toEqual([
      { text: "A1 plain", line: 1 },
      { text: "A2 test", line: 2 },
      { text: "A3 only", line: 3 },
      { text: "A4 each %i", line: 4 },
      { text: "A5 runIf", line: 5 },
      { text: "A6 table", line: 6 },
      { text: "A7 template ", line: 7 },
      { text: "A8 nested", line: 8 },
    ]);
  });

  it("leaves out tests that do not run, and other calls", () => {
    const text = [
      'it.skip("A1 skipped", () => {});',
      'it.todo("A2 todo");',
      'it.skip.each([1])("A3 skipped", () => {});',
      'describe("A4 group", () => {});',
      'expect("A5").toBe("A5");',
      '// it("A6 comment", () => {});',
      'const code = `it("A7 text", () => {});`;',
      'submit("A8", () => {});',
      "it(title, () => {});",
    ].join("\n");
    expect(findTitles("x.test.ts", text)).toEqual([]);
  });
});

describe("rulesOf", () => {
  it.each([
    ["W3 refuses a gap", ["W3"]],
    ["W3.1: refuses", ["W3.1"]],
    ["W3, W4: both", ["W3", "W4"]],
    ["W3 and AB12 both", ["W3", "AB12"]],
    ["W3", ["W3"]],
    ["refuses W3", []],
    ["SHA256 of nothing", []],
    ["W3x is no rule", []],
    ["W is no rule", []],
    ["", []],
  ])("of %j are %j", (title, ids) => {
    expect(rulesOf(title)).toEqual(ids);
  });
});

describe("compare", () => {
  const rules = [
    { id: "W1", place: "core/SPEC.md:3" },
    { id: "W2", place: "core/SPEC.md:4" },
  ];

  it("is silent when every rule has a test and every number a rule", () => {
    const titles = [
      { text: "W1, W2 hold", line: 1 },
      { text: "no rule", line: 2 },
    ];
    expect(compare(rules, new Map([["a.test.ts", titles]]))).toEqual([]);
  });

  it("names the untested rule and the unknown number", () => {
    expect(compare(rules, new Map([["a.test.ts", [{ text: "W1 and W9", line: 7 }]]]))).toEqual([
      "a.test.ts:7: the title begins with W9, but no SPEC.md has such a rule",
      "core/SPEC.md:4: no test proves W2",
    ]);
  });
});

describe("compareThreats", () => {
  const tests = new Map([["server/a.test.ts", [{ text: "S1 W2 refuses", line: 1 }]]]);

  it("accepts a row whose test proves it, or that is marked as not built", () => {
    const doc = "| S1 | open door | `server/a.test.ts` |\n| S2 | UDP | not built yet | |\n| S3x | other |";
    expect(compareThreats(doc, tests)).toEqual([]);
  });

  it("names a row without a test, and one whose test is about something else", () => {
    const doc = "| S1 | open door | |\n| S2 | floods | `server/a.test.ts`, `server/b.test.ts` |";
    expect(compareThreats(doc, tests)).toEqual([
      "docs/operations.md:1: no test is named for S1",
      "docs/operations.md:2: no title in server/a.test.ts begins with S2",
      "docs/operations.md:2: no title in server/b.test.ts begins with S2",
    ]);
  });
});
