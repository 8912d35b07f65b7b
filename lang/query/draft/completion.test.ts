import { describe, expect, it } from "vitest";
import { accept, completeQuery } from "./completion.ts";

const KNOWN = {
  params: ["lr", "optim.name", "learning rate"],
  tags: ["team"],
  metrics: ["loss", "val/acc"],
  values: new Map([
    ["params.lr", ["0.1", "0.01"]],
    ["tags.team", ['"asr"', '"mt"']],
  ]),
};
/** The cursor is at the bar. */
const at = (text: string) => {
  const cursor = text.indexOf("|");
  return completeQuery(text.replace("|", ""), cursor, KNOWN);
};
const texts = (text: string) => at(text).options.map((option) => option.text);

describe("completion of a query", () => {
  it.each([
    ["par|", "params.lr"],
    ["params.l|", "params.lr"],
    ["team|", "tags.team"],
    ["val|", "metrics.val/acc.last"],
    ["params.lr |", "<"],
    ["creator = |", "me"],
    ["creator |", "="],
    ["training|", "training_data"],
    ["test_data |", "like"],
    ["status |", "="],
    ["status = |", '"running"'],
    ['status = "fa|', '"failed"'],
    ["tags.team in (|", '"asr"'],
    ['tags.team in ("asr", |', '"mt"'],
    ["params.lr = |", "0.01"],
    ["params.lr < 1 |", "order by"],
    ["params.lr < 1 and n|", "name"],
    ["not (|", "metrics.loss.last"],
    ["order by lo|", "metrics.loss.last"],
    ["order by name |", "desc"],
    ["started > |", "now-7d"],
    ["namespace |", "under"],
    ["learn|", 'params."learning rate"'],
  ])("Z5 at %s it offers %s", (text, expected) => {
    expect(texts(text)).toContain(expected);
  });

  it("Z5 it offers no field where only an operator is valid, and nothing for a complete word", () => {
    expect(texts("params.lr |")).not.toContain("params.lr");
    expect(texts('status = "running" and tags.team|')).toEqual([]);
    expect(texts("params.lr < 1 |")).toEqual(["and", "or", "order by"]);
  });

  it("Z5 an option replaces what was typed of it, and the cursor is after it", () => {
    const text = "par and x";
    const found = completeQuery(text, 3, KNOWN);
    expect(accept(text, found, { text: "params.lr", hint: "" })).toEqual({
      query: "params.lr and x",
      cursor: 10,
    });
    const end = completeQuery("tags.team in", 12, KNOWN);
    expect(accept("tags.team in", end, { text: "in (", hint: "" }).query).toBe("tags.team in (");
  });

  it("Z5 ten thousand keys are filtered to a few", () => {
    const many = { ...KNOWN, metrics: Array.from({ length: 10_000 }, (_, i) => `m${i}`) };
    expect(completeQuery("m99", 3, many).options.length).toBeLessThanOrEqual(12);
  });
});
