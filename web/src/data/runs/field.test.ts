import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findPageField, isSortable, printPageField, searchColumn } from "./field.ts";

describe("fields of a page", () => {
  it("Z1 a field that only pages have is written and read as one text, too", () => {
    const key = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(fc.constantFrom("environment" as const, "line" as const), key, (of, one) => {
        expect(findPageField(printPageField({ of, key: one }))).toEqual({ of, key: one });
      }),
    );
  });

  it.each([
    ["params.learning rate", undefined],
    ['params."learning rate"', { of: "param", key: "learning rate" }],
    ["metrics.loss", { of: "metric", key: "loss", stat: "last" }],
    ["metrics.loss.last", { of: "metric", key: "loss", stat: "last" }],
    ['metrics."val/wer".min', { of: "metric", key: "val/wer", stat: "min" }],
    ["name", { of: "run", name: "name" }],
    ["nonsense", undefined],
    ["line.`a b`.c", { of: "line", key: "a b.c" }],
    ["environment.python", { of: "environment", key: "python" }],
    ["creator", { of: "run", name: "creator" }],
    ["training_data", { of: "run", name: "training_data" }],
    ["provenance.command", { of: "provenance", name: "command" }],
    // As earlier versions wrote it.
    ["provenance.commit", { of: "run", name: "commit" }],
    ["provenance.secrets", undefined],
    ["provenance.status", undefined],
    ["params.", undefined],
    ["", undefined],
  ])("Z1 %s in an address is a field as the query language reads it", (text, expected) => {
    expect(findPageField(text)).toEqual(expected);
  });

  it("Z1 only columns that are not always part of the answer are requested", () => {
    expect(
      ["name", "creator", "alias", "line.loss", "metrics.loss", "study", "provenance.command"].map((text) =>
        searchColumn(findPageField(text)!),
      ),
    ).toEqual([undefined, undefined, "aliases", undefined, "metrics.loss.last", "study", "provenance"]);
  });

  it("Z2 only fields that a query can order by sort the table", () => {
    expect(
      ["name", "params.lr", "metrics.loss", "commit", "alias", "training_data", "line.loss"].map((text) =>
        isSortable(findPageField(text)!),
      ),
    ).toEqual([true, true, true, true, false, false, false]);
  });
});
