import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { cellText, cellValue, isNumeric } from "./cell.ts";

const RUN = create(RunSchema, {
  params: {
    deep: '{"one":{"list":[9007199254740993,NaN,1.0],"two":9007199254740993}}',
    text: '"1"',
    "a.b": "2",
    a: '{"b":3}',
  },
});
const field = (key: string) => ({ of: "param", key }) as const;
const text = (key: string) => cellText(RUN, field(key), { colour: false, nowMs: 0 });

describe("cells of params", () => {
  it("T21, T22: hold every digit, however deep they are nested, also of lists", () => {
    expect(text("deep.one.two")).toBe("9007199254740993");
    expect(text("deep.one.list")).toBe("[9007199254740993,NaN,1.0]");
    expect(text("deep.one.list.0")).toBe("9007199254740993");
    expect(cellValue(RUN, field("deep.one.two"), 0)).toBe("9007199254740993");
    expect(isNumeric([RUN], field("deep.one.two"))).toBe(true);
  });

  it("T21, T22: a text that looks like a number has quotes for people and none for programs", () => {
    expect([text("text"), cellValue(RUN, field("text"), 0)]).toEqual(['"1"', "1"]);
    expect([text("a.b"), text("none"), text("toString")]).toEqual(["2", "", ""]);
  });
});
