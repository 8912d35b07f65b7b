import { describe, expect, it } from "vitest";
import { parseKeyFilter } from "./key-filter.ts";
import { rowsOf, sectionsOf } from "./sections.ts";

const keys = ["train/loss", "train/lr", "val/loss", "val/acc/top1", "system/gpu.0", "epoch"];

function fitting(text: string): string[] {
  const filter = parseKeyFilter(text);
  if (filter.error !== undefined) throw new Error(filter.error);
  return keys.filter((key) => filter.fits(key));
}

describe("the filter of keys", () => {
  it.each([
    ["", keys],
    ["loss", ["train/loss", "val/loss"]],
    ["LOSS", ["train/loss", "val/loss"]],
    ["val/*", ["val/loss"]],
    ["val/**", ["val/loss", "val/acc/top1"]],
    ["*", ["epoch"]],
    ["train/l?", ["train/lr"]],
    ["TRAIN?l?", ["train/lr"]],
    ["system/gpu\\.?", ["system/gpu.0"]],
    ["lr, epoch", ["train/lr", "epoch"]],
    ["/loss$/", ["train/loss", "val/loss"]],
    ["/^(val|epoch)", ["val/loss", "val/acc/top1", "epoch"]],
    ["gpu.0", ["system/gpu.0"]],
  ])("Z32 %j selects", (text, want) => {
    expect(fitting(text)).toEqual(want);
  });

  it("Z32 a pattern that is invalid or could run too long is refused with a reason", () => {
    for (const text of [
      "/(/",
      "/[z-a]/",
      "/(a+)+$/",
      "/(a|a)*$/",
      "/((a)*b)*/",
      "/(.)\\1+/",
      `/${"a".repeat(300)}/`,
    ]) {
      expect(parseKeyFilter(text).error, text).toMatch(/pattern/);
    }
  });
});

describe("sections", () => {
  it("Z33 keys are under their prefix, numbers as numbers, system metrics last", () => {
    const sections = sectionsOf(["system/cpu", "val/b", "layer10", "layer2", "train/a"]);
    expect(sections).toEqual([
      { name: "", keys: ["layer2", "layer10"] },
      { name: "train", keys: ["train/a"] },
      { name: "val", keys: ["val/b"] },
      { name: "system", keys: ["system/cpu"] },
    ]);
  });

  it("Z33 a few charts are shown together without titles, folded or not", () => {
    const rows = rowsOf(sectionsOf(["train/a", "val/b", "val/c"]), 2, new Set(["val"]));
    expect(rows).toEqual([
      { kind: "charts", keys: ["train/a", "val/b"] },
      { kind: "charts", keys: ["val/c"] },
    ]);
    expect(rowsOf([], 2, new Set())).toEqual([]);
  });

  it("Z33 12,000 names become rows of charts, each once, without those of folded sections", () => {
    const names = Array.from({ length: 12_000 }, (_, i) => `s${i % 7}/metric-${i}`);
    const rows = rowsOf(sectionsOf(names), 3, new Set(["s3"]));
    const shown = rows.flatMap((row) => (row.kind === "charts" ? row.keys : []));
    expect(shown.toSorted()).toEqual(names.filter((name) => !name.startsWith("s3/")).toSorted());
    expect(rows.filter((row) => row.kind === "title").length).toBe(7);
  });
});
