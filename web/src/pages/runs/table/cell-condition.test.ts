import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { parseQuery } from "#lang/query/parser.ts";
import { RunSchema, RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { findPageField } from "../../../data/runs/field.ts";
import { cellCondition } from "./cell-condition.ts";

const run = create(RunSchema, {
  id: "r1",
  name: "one",
  namespace: "demo/speech",
  status: RunStatus.FINISHED,
  aliases: ["job-1"],
  params: { lr: "1e-3", name: '"a \\"b\\""', flag: "true", nothing: "null", big: "NaN", list: "[1]" },
  tags: { "my team": "asr" },
  creator: "ada",
  provenance: { study: "ablation", trainingData: ["s3://a@v1"], testData: ["s3://b", "s3://c"] },
});

const of = (field: string) => cellCondition(run, findPageField(field)!);

describe("a filter from a cell", () => {
  it("Z212 selects the runs with the same value", () => {
    expect(of("status")).toBe('status = "finished"');
    expect(of("namespace")).toBe('namespace = "demo/speech"');
    expect(of('tags."my team"')).toBe('tags."my team" = "asr"');
    expect(of("params.lr")).toBe("params.lr = 1e-3");
    expect(of("params.flag")).toBe("params.flag = true");
    expect(of("creator")).toBe('creator = "ada"');
    expect(of("study")).toBe('study = "ablation"');
    expect(of("training_data")).toBe('training_data = "s3://a@v1"');
    const conditions = ["status", "namespace", 'tags."my team"', "params.lr", "params.flag", "params.name"];
    for (const field of conditions) expect(() => parseQuery(of(field)!, { nowUs: 0 })).not.toThrow();
  });

  it("Z212 offers nothing for what is missing, of one run alone, or cannot be asked for", () => {
    const without = ["name", "id", "alias", "notes", "duration", "created", "tags.other", "params.other"];
    const unaskable = [
      "params.nothing",
      "params.big",
      "params.list",
      "metrics.loss.min",
      "line.loss",
      "test_data",
    ];
    for (const field of [...without, ...unaskable, "environment.host"]) {
      expect(of(field), field).toBeUndefined();
    }
  });
});
