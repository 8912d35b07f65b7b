import { describe, expect, test } from "vitest";
import { CairnError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Expression } from "./ast.ts";
import { parseQuery } from "./parser.ts";
import { formatTimeUs, parseTimeUs } from "./time.ts";

const parse = (text: string) => parseQuery(text, { nowUs: 1_000_000_000_000_000 });

function refusal(text: string): CairnError {
  try {
    parse(text);
  } catch (thrown) {
    if (thrown instanceof CairnError) return thrown;
    throw thrown;
  }
  throw new Error("was accepted");
}

describe("parseQuery", () => {
  test("Q202 me is the caller where it is compared with the creator, and nowhere else", () => {
    const field = { of: "run", name: "creator" } as const;
    const as = (text: string) => parseQuery(text, { nowUs: 0, me: "ada" }).where;
    expect(as("creator = me")).toEqual({ op: "compare", field, comparison: "=", value: "ada" });
    expect(as("creator in (Me, 'me')")).toEqual({ op: "in", field, values: ["ada", "me"] });
    for (const text of ["creator = me", "tags.owner = me", "user = me"]) {
      expect(refusal(text)).toMatchObject({ reason: "QUERY_SYNTAX" });
    }
    expect(() => as("tags.owner = me")).toThrow(/a text needs quotes|expected a value/);
  });

  test("the example of the design", () => {
    const text =
      'metrics.val_acc.max > 0.9 and params.optim.lr <= 1e-3 and tags.team in ("asr","mt") ' +
      'and not status = "failed" order by metrics.val_loss.min asc';
    expect(parse(text)).toEqual({
      where: {
        op: "and",
        terms: [
          {
            op: "compare",
            field: { of: "metric", key: "val_acc", stat: "max" },
            comparison: ">",
            value: 0.9,
          },
          { op: "compare", field: { of: "param", key: "optim.lr" }, comparison: "<=", value: 0.001 },
          { op: "in", field: { of: "tag", key: "team" }, values: ["asr", "mt"] },
          {
            op: "not",
            term: { op: "compare", field: { of: "run", name: "status" }, comparison: "=", value: "failed" },
          },
        ],
      },
      orderBy: [{ field: { of: "metric", key: "val_loss", stat: "min" }, descending: false }],
    });
  });

  test("times become microseconds", () => {
    const value = (text: string) => (parse(text).where as Expression & { op: "compare" }).value;
    expect(value("started > now")).toBe(1_000_000_000_000_000);
    expect(value("started > now-7d")).toBe(1_000_000_000_000_000 - 7 * 86_400 * 1e6);
    expect(value("started > now - 1.5h + 0.000001s")).toBe(1_000_000_000_000_000 - 5_400e6 + 1);
    expect(value('started > "2026-01-31"')).toBe(Date.UTC(2026, 0, 31) * 1000);
    expect(value("duration > 1w")).toBe(604_800);
  });

  test("an error shows the query and a caret under the column", () => {
    expect(refusal('params.lr > 0.1 adn status = "failed"').message).toBe(
      [
        'cannot parse query: expected and, or, order by or the end, found "adn" (did you mean and?) at column 17',
        '  params.lr > 0.1 adn status = "failed"',
        "                  ^",
      ].join("\n"),
    );
  });

  test("a long query is cut to a window, and the caret stays in place", () => {
    const text = `params.😀 = 1${" or params.x = 1".repeat(20)} oops${" or params.x = 1".repeat(20)}`;
    const good = text.replace("params.😀", 'params."😀"').replaceAll("params.x", "params.`\u0007`");
    const error = refusal(good);
    const [problem, line, caret] = error.message.split("\n");
    expect(problem).toContain(`at column ${error.facts["column"]}`);
    expect(Array.from(line!).length).toBeLessThanOrEqual(64);
    expect(
      Array.from(line!)
        .slice(caret!.length - 1)
        .join(""),
    ).toMatch(/^oops/);
    expect(line).toMatch(/^ {2}….*…$/u);
    expect(line).not.toContain("\u0007");
    expect(
      Array.from(good)
        .slice(Number(error.facts["column"]) - 1)
        .join(""),
    ).toMatch(/^oops/);
  });

  test("size, depth, lists and patterns have limits", () => {
    const padded = (bytes: number) =>
      `name = "${"é".repeat((bytes - 9) / 2)}"`.padEnd(bytes - (bytes - 9) / 2 + 0.5);
    expect(Buffer.byteLength(padded(limits.queryBytesMax))).toBe(limits.queryBytesMax);
    expect(parse(padded(limits.queryBytesMax)).orderBy).toEqual([]);
    expect(refusal(`${padded(limits.queryBytesMax)} `).message).toContain("16385 bytes are more than 16384");
    expect(parseQuery(" ".repeat(20_000), { nowUs: 0, bytesMax: 20_000 }).where).toBeUndefined();

    const depth = limits.queryDepthMax;
    expect(parse(`${"(".repeat(depth)}name = "a"${")".repeat(depth)}`).where).toMatchObject({
      op: "compare",
    });
    expect(refusal(`${"(".repeat(depth + 1)}name = "a"${")".repeat(depth + 1)}`).facts).toEqual({
      column: "65",
    });
    expect(refusal(`${"not ".repeat(depth + 1)}name = "a"`).message).toContain("nested deeper than 64");
    expect(parse(Array.from({ length: 300 }, () => "not (id in ('a'))").join(" and ")).where).toMatchObject({
      op: "and",
    });

    const list = (values: number) =>
      `params.x in (${Array.from({ length: values }, (_, index) => index).join(",")})`;
    expect(parse(list(limits.queryListMax)).where).toMatchObject({ op: "in" });
    expect(refusal(list(limits.queryListMax + 1)).message).toContain("more than 1000 values");

    expect(refusal(`name ~ "${"a".repeat(limits.patternBytesMax + 1)}"`).message).toContain("1025 bytes");
    expect(refusal(`name like "${".".repeat(limits.patternBytesMax - 4)}"`).message).toContain(
      "bytes are more than 1024",
    );
    const patterns = Array.from({ length: 40 }, () => "name ~ 'a{300}'").join(" or ");
    expect(refusal(patterns).message).toContain("too large together");
  });

  test("the hint lists what a status may be", () => {
    const error = refusal('status = "runing"');
    expect(error.reason).toBe("QUERY_SYNTAX");
    expect(error.hint).toBe("statuses are scheduled, running, finished, failed, killed, lost");
  });
});

describe("times", () => {
  test.each([
    ["2026-01-31", Date.UTC(2026, 0, 31) * 1000],
    ["2024-02-29", Date.UTC(2024, 1, 29) * 1000],
    ["1969-12-31T23:59:59.999999Z", -1],
    ["1970-01-01T00:00:00.5", 500_000],
    ["1970-01-01 01:00:00+0100", 0],
    ["0000-01-01", -62_167_219_200_000_000],
    ["9999-12-31T23:59:59Z", 253_402_300_799_000_000],
  ])("%s", (text, timeUs) => {
    expect(parseTimeUs(text)).toBe(timeUs);
    const printed = formatTimeUs(timeUs);
    if (printed !== undefined) expect(parseTimeUs(printed)).toBe(timeUs);
  });

  test.each([
    "",
    "2026",
    "2026-1-1",
    "2026-02-29",
    "2026-13-01",
    "2026-00-01",
    "2026-01-01T24:00",
    "2026-01-01T1:00",
  ])("%s is not a time", (text) => {
    expect(parseTimeUs(text)).toBeUndefined();
  });

  test.each([1.5, NaN, Infinity, -0, 1e18, -1e17])("%d has no text", (timeUs) => {
    expect(formatTimeUs(timeUs)).toBeUndefined();
  });
});
