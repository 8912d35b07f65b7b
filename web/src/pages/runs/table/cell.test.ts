import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RunSchema, RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { cellOf } from "./cell.ts";
import { findPageField } from "../../../data/runs/field.ts";

const RUN = create(RunSchema, {
  name: "first",
  status: RunStatus.RUNNING,
  startedUs: 1_000_000n,
  params: {
    lr: "1.0",
    big: "9007199254740993",
    text: '"a\\nb"',
    optim: '{"lr":1.0,"betas":[0.9,NaN],"name":"adam"}',
    "a.b": "1",
    a: '{"b":2}',
    deep: '{"one":{"two":9007199254740993,"list":[9007199254740993,NaN,1.0]}}',
    x: '{"constructor":1}',
    bad: "NaN",
  },
  tags: { team: "asr" },
  provenance: { environment: { HOME: "/root" } },
  metrics: { "loss.min": 0.123456 },
});
const cell = (text: string) => cellOf(RUN, findPageField(text)!, 61_000);

describe("cells", () => {
  it("Z7 params are shown as they were logged, nested ones by their path", () => {
    expect(
      [
        "params.lr",
        "params.big",
        "params.optim.lr",
        "params.optim.name",
        "params.optim.betas.0",
        "params.bad",
      ].map((text) => cell(text).text),
    ).toEqual(["1.0", "9007199254740993", "1.0", "adam", "0.9", "NaN"]);
    expect(cell("params.text").text).toBe("a\nb");
  });

  it("Z7 no digit is lost, however deep a param is nested", () => {
    expect(cell("params.deep.one.two")).toMatchObject({
      text: "9007199254740993",
      whole: "9007199254740993",
    });
    expect(cell("params.deep.one.list").text).toBe("[9007199254740993,NaN,1.0]");
    expect(cell("params.deep.one.list.0").text).toBe("9007199254740993");
  });

  it("Z7 a flat param wins over a nested one of the same path, and missing values are empty", () => {
    expect(cell("params.a.b").text).toBe("1");
    expect(cell("params.optim.none").text).toBe("");
    expect(cell("params.x.toString").text).toBe("");
    expect(cell("params.toString").text).toBe("");
  });

  it("Z7 keys that every JavaScript object has are missing unless they were logged", () => {
    for (const key of ["constructor", "toString", "__proto__"]) {
      for (const root of ["tags", "environment", "params"]) {
        expect(cell(`${root}.${key}`), `${root}.${key}`).toEqual({ text: "", whole: "" });
      }
    }
  });

  it("Z7 a run that still runs gets older; numbers are short, and in full in their title", () => {
    expect(cell("duration")).toEqual({ text: "1m", number: 60, whole: "60" });
    expect(cell("metrics.loss.min")).toEqual({ text: "0.1235", number: 0.123456, whole: "0.123456" });
    expect(cell("tags.team").text).toBe("asr");
    expect(cell("ended").text).toBe("");
  });
});
