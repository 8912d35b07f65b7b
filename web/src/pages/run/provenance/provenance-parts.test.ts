import { create } from "@bufbuild/protobuf";
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { shellWord } from "#lang/words/shell-line.ts";
import { provenanceParts, reproduction } from "./provenance-parts.ts";

describe("provenance of a run", () => {
  it("Z47 lists what is recorded and what is missing", () => {
    const run = create(RunSchema, {
      params: { "train.seed": "7", lr: "0.1" },
      provenance: {
        code: { commit: "abc1234" },
        trainingData: ["s3://a", "s3://b"],
        command: ["python", "a b.py"],
      },
    });
    const parts = new Map(provenanceParts(run).map(({ name, values }) => [name, values]));
    expect(parts.get("Commit")).toEqual(["abc1234"]);
    expect(parts.get("Repository")).toEqual([]);
    expect(parts.get("Random seed")).toEqual(["train.seed = 7"]);
    expect(parts.get("Training data")).toEqual(["s3://a", "s3://b"]);
    expect(parts.get("Command")).toEqual(["python 'a b.py'"]);
    expect(parts.get("Hyper-parameters")).toEqual(["2 params"]);
    expect(
      provenanceParts(create(RunSchema)).every(
        ({ values, missing }) => values.length === 0 && missing !== "",
      ),
    ).toBe(true);
  });

  it("Z47 gives the commands to run it again", () => {
    const run = create(RunSchema, {
      provenance: {
        code: {
          repository: "https://git.example.org/x/segment.git",
          commit: "0123456789abcdef",
          dirtyPatch: "diff --git a b\n",
        },
        command: ["python", "train.py", "--note=it's"],
      },
    });
    expect(reproduction(run)).toBe(
      "git clone -- https://git.example.org/x/segment.git segment && cd segment\ngit checkout --detach 0123456789abcdef\ngit apply uncommitted.patch\npython train.py '--note=it'\\''s'",
    );
    expect(reproduction(create(RunSchema))).toBeUndefined();
    expect(
      reproduction(create(RunSchema, { provenance: { code: { commit: "--exec=x" }, command: ["true"] } })),
    ).toBe("true");
  });

  it("Z47 quotes exactly for a shell", () => {
    const words = [
      "a b",
      "$(touch /tmp/x)",
      "`id`",
      "it's",
      'say "hi"',
      "line\nbreak",
      "\u001b[31m'\\",
      "ünïcode ⛰",
      "-rf",
      "*",
      "~",
      "#",
      "",
    ];
    for (const word of words) {
      const read = execFileSync("bash", ["-c", `printf %s ${shellWord(word)}`], {
        encoding: "utf8",
        env: { ...process.env, LC_ALL: "C.UTF-8" },
      });
      expect(read).toBe(word);
    }
  });
});
