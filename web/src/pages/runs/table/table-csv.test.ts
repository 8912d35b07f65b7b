import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RunSchema, RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { layOut } from "./layout.ts";
import { tableCsv } from "./table-csv.ts";

describe("the table as CSV", () => {
  it("Z14 it has the columns that are shown, full values, and the id", () => {
    const run = create(RunSchema, {
      id: "01",
      name: "1;=evil",
      status: RunStatus.FINISHED,
      params: { lr: "1.0" },
      metrics: { "loss.min": 0.123456789 },
    });
    const columns = layOut(["status", "line.loss", "metrics.loss.min", "params.lr"], {});
    expect(tableCsv([run], columns, 0)).toBe(
      'name,status,metrics.loss.min,params.lr,id\r\n"1;\'=evil",finished,0.123456789,1.0,01\r\n',
    );
  });
});
