import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { layOut } from "./layout.ts";
import { csvCell, tableCsv } from "./table-csv.ts";

describe("the table as CSV", () => {
  it.each([
    ["plain", "plain"],
    ["=1+1", "'=1+1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"],
    ["-2+3", "'-2+3"],
    ["\t=1", "'\t=1"],
    ["-0.5", "-0.5"],
    ["-1e-3", "-1e-3"],
    ['say "hi", you', '"say ""hi"", you"'],
    ["=a,b", `"'=a,b"`],
    ["two\nlines", '"two\nlines"'],
    ["-Infinity", "'-Infinity"],
  ])("Z14 %j becomes %j", (text, expected) => {
    expect(csvCell(text)).toBe(expected);
  });

  it("Z14 it has the columns that are shown, whole values, and the id", () => {
    const run = create(RunSchema, {
      id: "01",
      name: "=evil",
      params: { lr: "1.0" },
      metrics: { "loss.min": 0.123456789 },
    });
    const columns = layOut(["status", "line.loss", "metrics.loss.min", "params.lr"], {});
    expect(tableCsv([run], columns, 0)).toBe(
      "name,status,metrics.loss.min,params.lr,id\r\n'=evil,unknown,0.123456789,1.0,01\r\n",
    );
  });
});
