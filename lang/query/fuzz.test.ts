import fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMs } from "#base/cpu-ms.ts";
import { CairnError } from "../errors.ts";
import { limits } from "../limits.ts";
import { arbitraryQuery } from "./testing/arbitrary.ts";
import { arbitraryText, TEXT_PIECES } from "./testing/arbitrary-text.ts";
import { parseQuery } from "./parser.ts";
import { printQuery } from "./print.ts";
import { dose } from "../../tools/dose.ts";

const PARSE_MS_MAX = 50;

/** Parses, or throws exactly what a bad query may throw. Answers the milliseconds it computed. */
function parseAnything(text: string): number {
  const begin = cpuMs();
  try {
    parseQuery(text, { nowUs: 0 });
  } catch (thrown) {
    if (!(thrown instanceof CairnError)) throw thrown;
    expect(thrown).toMatchObject({ code: "invalid", reason: "QUERY_SYNTAX" });
    const column = Number(thrown.facts["column"]);
    expect(column).toBeGreaterThanOrEqual(1);
    expect(column).toBeLessThanOrEqual(Array.from(text).length + 1);
    expect(thrown.message.split("\n")).toHaveLength(3);
  }
  return cpuMs() - begin;
}

/** The best of three: the first may compile, and any may collect garbage. */
function expectFast(text: string): void {
  const elapsedMs = Math.min(parseAnything(text), parseAnything(text), parseAnything(text));
  expect(elapsedMs, text.slice(0, 60)).toBeLessThan(PARSE_MS_MAX);
}

test("a broken pattern with a line break in it is quoted on one line", () => {
  parseAnything('name ~ "[\n" order by name');
});

test("so is a key with one", () => {
  parseAnything('metrics."top\n5" < "a"');
  parseAnything('params."\ud800\n".x < true');
});

test("random text never throws anything but a syntax error", () => {
  fc.assert(
    fc.property(arbitraryText(), (source) => {
      parseAnything(source);
    }),
    { numRuns: dose(1_000, 10_000) },
  );
});

test("nor does a good query with a few changes", () => {
  const edit = fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom("", ...TEXT_PIECES));
  fc.assert(
    fc.property(arbitraryQuery(), fc.array(edit, { minLength: 1, maxLength: 4 }), (query, edits) => {
      const text = edits.reduce((edited, [place, remove, piece]) => {
        const at = place % (edited.length + 1);
        return edited.slice(0, at) + piece + edited.slice(at + remove);
      }, printQuery(query));
      parseAnything(text);
    }),
    { numRuns: dose(600, 6_000) },
  );
});

const fill = (piece: string, before = "", after = "") => {
  const bytes = limits.queryBytesMax - Buffer.byteLength(before + after);
  return before + piece.repeat(Math.floor(bytes / Buffer.byteLength(piece))) + after;
};

test.each([
  ["parentheses", fill("(")],
  ["closed parentheses", fill("()")],
  ["not", fill("not ")],
  ["not in", fill("not in ")],
  ["comparisons", fill("id='' or ", "", "id=''")],
  ["comparisons without and", fill("id='' ")],
  ["or and and in turn", fill("id='' or id='' and ", "", "id=''")],
  ["values", fill("1,", "params.x in (", "1)")],
  ["a long text", fill("a", 'name = "', '"')],
  ["a text without end", fill("a", 'name = "')],
  ["quotes", fill('"')],
  ["odd quotes", fill('"', "x")],
  ["escapes", fill("\\n", 'name = "', '"')],
  ["surrogate escapes", fill("\\ud83d\\ude00", 'name = "', '"')],
  ["backslashes", fill("\\", 'name = "')],
  ["a long key", fill("a", "params.", "=1")],
  ["dots", fill("a.", "params.", "a=1")],
  ["only dots", fill(".", "params")],
  ["quoted segments", fill('"".', "params.", "a=1")],
  ["a long word", fill("a")],
  ["a long word of marks", fill("a\u0301")],
  ["digits", fill("9", "params.x=")],
  ["points in a number", fill(".1", "params.x=")],
  ["exponents", fill("1e", "params.x=")],
  ["spaces", fill(" ", "id", "='a'")],
  ["symbols", fill("<")],
  ["spans", fill("-1d", "started > now")],
  ["order", fill("id,", "order by ", "id")],
  ["slashes", fill("/", "namespace under '", "'")],
  ["emoji", fill("😀", "name = '", "'")],
  ["one pattern", fill("a", "name ~ '", "'")],
  ["patterns", fill("id~'a'or ", "", "id=''")],
  ["like", fill("id like'a%'or ", "", "id=''")],
  ["patterns with counts", fill("id~'a{99}'or ", "", "id=''")],
  ["patterns with classes", fill("id~`\\pL\\pN`or ", "", "id=''")],
  ["patterns with folded classes", fill("id~`(?i)\\pL`or ", "", "id=''")],
  ["patterns with folded ranges", fill("id~`(?i)[k-\u{20000}]`or ", "", "id=''")],
  ["patterns with folded hex ranges", fill("id~`(?i)[\\x{80}-\\x{1ffff}]`or ", "", "id=''")],
  ["large patterns", fill(`id~'${"a{9}".repeat(200)}'or `, "", "id=''")],
  ["nested counts", fill("id~'(((a{9}){9}){9})'or ", "", "id=''")],
  ["alternatives", fill(`id~'${"a|b".repeat(300)}'or `, "", "id=''")],
  ["empty alternatives", fill(`id~'(${"|".repeat(900)})*'or `, "", "id=''")],
  ["nested stars", fill(`id~'${"(a*)*".repeat(180)}'or `, "", "id=''")],
  ["negated classes", fill(`id~'(?i)${"[^k]".repeat(200)}'or `, "", "id=''")],
  ["folded words", fill(`id~'(?i)${"\\W".repeat(400)}'or `, "", "id=''").replaceAll("'", "`")],
  ["folded posix classes", fill(`id~'(?i)${"[[:^word:]]".repeat(80)}'or `, "", "id=''")],
  ["nested groups", fill(`id~'${"(".repeat(400)}a${")".repeat(400)}'or `, "", "id=''")],
  ["control characters", fill("\u0001")],
])("16 KiB of %s take no time", (_name, text) => {
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.queryBytesMax);
  expectFast(text);
});
