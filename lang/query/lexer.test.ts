import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMs } from "#base/cpu-ms.ts";
import { dose } from "../../tools/dose.ts";
import { CairnError } from "../errors.ts";
import { tokenize, tokenizeDraft } from "./lexer.ts";
import { printQuery } from "./print.ts";
import { arbitraryText } from "./testing/arbitrary-text.ts";
import { arbitraryQuery } from "./testing/arbitrary.ts";

const DRAFT_BYTES = 256 << 10;
const DRAFT_MS_MAX = 400;

describe("the tokens of a draft", () => {
  test("with the spaces between them they make up any text", () => {
    fc.assert(
      fc.property(arbitraryText(), (text) => {
        let done = 0;
        for (const { kind, at, end } of tokenizeDraft(text)) {
          expect(text.slice(done, at).trim(), text).toBe("");
          expect(at).toBeGreaterThanOrEqual(done);
          expect(kind === "end" || end > at).toBe(true);
          done = end;
        }
        expect(done).toBe(text.length);
      }),
      { numRuns: dose(1_000, 10_000) },
    );
  });

  test("are those of the query where it can be read, and one of them is invalid where it cannot", () => {
    fc.assert(
      fc.property(fc.oneof(arbitraryText(), arbitraryQuery().map(printQuery)), (text) => {
        const draft = tokenizeDraft(text);
        try {
          expect(draft).toEqual(tokenize(text, "query"));
        } catch (thrown) {
          if (!(thrown instanceof CairnError)) throw thrown;
          expect(draft.some(({ kind }) => kind === "invalid")).toBe(true);
        }
      }),
      { numRuns: dose(1_000, 10_000) },
    );
  });

  test.each([
    ['name = "open and x', '"open and x', "string"],
    ["name = 'open\\' and x", "'open\\' and x", "string"],
    ['"ends with \\', '"ends with \\', "string"],
    [String.raw`"\q" = 1`, String.raw`"\q"`, "string"],
    [String.raw`"\u12" = 1`, String.raw`"\u12"`, "string"],
    [String.raw`"\ud800" = 1`, String.raw`"\ud800"`, "string"],
    ['"\ud800" = 1', '"\ud800"', "string"],
    ["params. and name", "params.", "path"],
    ["params.a..b = 1", "params.a..b", "path"],
    ['metrics."val acc', 'metrics."val acc', "path"],
    ["12abc = 1", "12abc", "number"],
    ["created > 2026-01-31", "2026-01-31", "number"],
    ["name & x", "&", "symbol"],
    ["name 😀 x", "😀", "symbol"],
    ["name \ud800 x", "\ud800", "symbol"],
  ])("%j has the invalid token %j", (query, text, meant) => {
    const invalid = tokenizeDraft(query).filter(({ kind }) => kind === "invalid");
    expect(invalid).toEqual([
      { kind: "invalid", meant, text, at: query.indexOf(text), end: query.indexOf(text) + text.length },
    ]);
  });

  test.each(['"', "'\\", "`", ".", "a.", 'a."', '"\\u', "\ud800", "2026-01-31", "1a ", "=="])(
    "a long text of %j is read in one pass",
    (piece) => {
      const text = piece.repeat(DRAFT_BYTES / piece.length);
      const begin = cpuMs();
      tokenizeDraft(text);
      expect(cpuMs() - begin).toBeLessThan(DRAFT_MS_MAX);
    },
  );
});
