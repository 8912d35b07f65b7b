/**
 * Checks the rules of every SPEC.md against the titles of the tests. A rule is a list item that begins
 * with its number in bold: `- **W3** A gap is refused …`. A test begins its title with the rules it
 * proves: `it("W3 refuses a gap", …)`, `it("W3, W4: …", …)`. Run it with `node tools/spec.ts`.
 *
 * The table of threats in docs/operations.md is checked as well: each row names in backticks the
 * test files whose titles begin with its number.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { type ESTree, Visitor } from "vite";

import { lineOf, parseSource } from "./parse-source.ts";
import { readSources, ROOT } from "./sources.ts";

/** Each room has its rules beside its code. */
const SPEC_PATTERNS = ["*/SPEC.md"];
const THREATS_FILE = "docs/operations.md";

/** Where tests are: beside the code, in the contract suites, and in e2e. */
const TEST_PATTERNS = ["**/*.test.ts", "store/contract/**/*.ts", "e2e/**/*.ts"];

const RULE_ITEM = /^\s*[-*]\s+\*\*([A-Z]+\d+(?:\.\d+)*)\*\*/;
const RULE_ID = /^[A-Z]{1,2}\d+(?:\.\d+)?$/;
/** Threats and faults of the reliability plan: a title may begin with one, but it is not a rule. */
const PLAN_NUMBER = /^[SR]\d+$/;
const THREAT_ROW = /^\| (S\d+) \|/;
const TEST_PATH = /`([\w/.-]+\.(?:ts|py))`/g;
const TITLE_RULE = /^(?:,|\band\b|\s)*([A-Z]{1,2}\d+(?:\.\d+)?)(?=$|[\s,:])/;

export interface Rule {
  id: string;
  /** Where it is: `core/SPEC.md:12`. */
  place: string;
}

export interface Title {
  text: string;
  line: number;
}

/** Rules of all files, by path. Throws on an invalid or duplicate rule id, and on one whose letter another file has. */
export function parseRules(specs: ReadonlyMap<string, string>): Rule[] {
  const rules = new Map<string, Rule>();
  const owners = new Map<string, string>();
  for (const [file, spec] of specs) {
    for (const [index, text] of spec.split("\n").entries()) {
      const id = RULE_ITEM.exec(text)?.[1];
      if (id === undefined) continue;
      const place = `${file}:${index + 1}`;
      if (!RULE_ID.test(id)) throw new Error(`${place}: ${id} is not a rule id such as W3 or W3.1`);
      const first = rules.get(id);
      if (first !== undefined) throw new Error(`${place}: ${id} is already at ${first.place}`);
      const letter = id.replace(/\d.*/, "");
      const owner = owners.get(letter) ?? file;
      if (owner !== file) throw new Error(`${place}: rules with ${letter} are in ${owner}`);
      owners.set(letter, file);
      rules.set(id, { id, place });
    }
  }
  return [...rules.values()];
}

/** Titles of the tests in a file that run: `it` and `test` in all their forms, but skip and todo. */
export function findTitles(file: string, text: string): Title[] {
  const titles: Title[] = [];
  new Visitor({
    CallExpression: (node) => {
      const title = titleText(node.arguments[0]);
      if (title === undefined || !isTestCall(node.callee)) return;
      titles.push({ text: title, line: lineOf(text, node.start) });
    },
  }).visit(parseSource(file, text));
  return titles;
}

function titleText(node: ESTree.Node | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral") return node.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}

/** `it`, `it.only`, `it.each(…)`, `test.runIf(…)` and so on, as the callee of the call with the title. */
function isTestCall(callee: ESTree.Node): boolean {
  if (callee.type === "Identifier") return callee.name === "it" || callee.name === "test";
  if (callee.type === "CallExpression")
    return callee.callee.type === "MemberExpression" && isTestCall(callee.callee);
  if (callee.type === "TaggedTemplateExpression") return isTestCall(callee.tag);
  if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return false;
  return callee.property.name !== "skip" && callee.property.name !== "todo" && isTestCall(callee.object);
}

/** The rules a title begins with; none for a test without a rule. */
export function rulesOf(title: string): string[] {
  const ids: string[] = [];
  let rest = title;
  for (let match = TITLE_RULE.exec(rest); match !== null; match = TITLE_RULE.exec(rest)) {
    ids.push(match[1]!);
    rest = rest.slice(match[0].length);
  }
  return ids;
}

/** One line per untested rule and per title with an unknown number. */
export function compare(rules: readonly Rule[], tests: ReadonlyMap<string, readonly Title[]>): string[] {
  const known = new Set(rules.map((rule) => rule.id));
  const proven = new Set<string>();
  const problems: string[] = [];
  for (const [file, titles] of tests) {
    for (const { text, line } of titles) {
      for (const id of rulesOf(text)) {
        if (known.has(id)) proven.add(id);
        else if (!PLAN_NUMBER.test(id))
          problems.push(`${file}:${line}: the title begins with ${id}, but no SPEC.md has such a rule`);
      }
    }
  }
  for (const { id, place } of rules) {
    if (!proven.has(id)) problems.push(`${place}: no test proves ${id}`);
  }
  return problems;
}

/** One line per row of the table of threats that names no test, or one that does not prove it. */
export function compareThreats(doc: string, tests: ReadonlyMap<string, readonly Title[]>): string[] {
  const problems: string[] = [];
  for (const [index, text] of doc.split("\n").entries()) {
    const id = THREAT_ROW.exec(text)?.[1];
    if (id === undefined || text.includes("not built yet")) continue;
    const where = `${THREATS_FILE}:${index + 1}`;
    const named = [...text.matchAll(TEST_PATH)].map((match) => match[1]!);
    if (named.length === 0) problems.push(`${where}: no test is named for ${id}`);
    for (const file of named) {
      const proves = tests.get(file)?.some((title) => rulesOf(title.text).includes(id)) ?? false;
      if (!proves) problems.push(`${where}: no title in ${file} begins with ${id}`);
    }
  }
  return problems;
}

async function main(): Promise<void> {
  const rules = parseRules(await readSources(SPEC_PATTERNS));
  const sources = await readSources(TEST_PATTERNS);
  const tests = new Map([...sources].map(([file, text]) => [file, findTitles(file, text)]));
  const threats = await readFile(join(ROOT, THREATS_FILE), "utf8");
  const problems = [...compare(rules, tests), ...compareThreats(threats, tests)];
  for (const problem of problems) console.log(problem);
  console.log(`${rules.length} rules, ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
