import { describe, expect, it } from "vitest";
import { LEAD_WIDTH, layOut, moved, tableWidth } from "./layout.ts";

const texts = (columns: readonly { text: string }[]) => columns.map(({ text }) => text);

describe("the layout of the table", () => {
  it("Z3 the name is always the first column, and invalid fields are ignored", () => {
    expect(texts(layOut(["status", "nonsense", "name", "params.lr"], {}))).toEqual([
      "name",
      "status",
      "params.lr",
    ]);
    expect(texts(layOut([], {}))).toEqual(["name"]);
  });

  it("Z3 pinned columns are after the name, each where the last one ends", () => {
    const columns = layOut(["status", "params.lr", "tags.team"], {
      pin: ["tags.team"],
      w: { name: 200, "tags.team": 90 },
    });
    expect(columns.map(({ text, stickyLeft }) => [text, stickyLeft])).toEqual([
      ["name", LEAD_WIDTH],
      ["tags.team", LEAD_WIDTH + 200],
      ["status", undefined],
      ["params.lr", undefined],
    ]);
    expect(tableWidth(columns)).toBe(LEAD_WIDTH + columns.reduce((sum, { width }) => sum + width, 0));
  });

  it("Z3 numbers are aligned right: metrics, durations, and params that are always numbers", () => {
    const numeric = new Set(["lr"]);
    const columns = layOut(["metrics.loss.min", "duration", "params.lr", "params.name"], {}, { numeric });
    expect(columns.map(({ isNumeric }) => isNumeric)).toEqual([false, true, true, true, false]);
  });

  it("Z3 a column that is dragged takes the place of the one it is dropped on", () => {
    expect(moved(["a", "b", "c", "d"], "a", "c")).toEqual(["b", "c", "a", "d"]);
    expect(moved(["a", "b", "c", "d"], "d", "b")).toEqual(["a", "d", "b", "c"]);
    expect(moved(["a", "b"], "x", "b")).toEqual(["a", "b"]);
  });
});
