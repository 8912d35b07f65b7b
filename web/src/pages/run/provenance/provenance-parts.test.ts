import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { quoteText } from "#lang/query/quote.ts";
import { RunSchema, type CodeSchema, type Run } from "#proto/cairn/v1/run_pb.ts";
import { shellWord } from "#lang/words/shell-line.ts";
import { peopleOf, provenanceParts, reproduction, reproductionGap } from "./provenance-parts.ts";

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
    const parts = new Map(
      provenanceParts(run).map(({ name, values }) => [name, values.map(({ text }) => text)]),
    );
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

  it("Z207 a work tree is clean only if git said so of everything", () => {
    const treeOf = (code: MessageInitShape<typeof CodeSchema>) => {
      const run = create(RunSchema, { provenance: { code } });
      const { values, missing } = provenanceParts(run).find(({ name }) => name === "Work tree")!;
      return values.length > 0 ? values.map(({ text }) => text) : missing;
    };
    expect(treeOf({ trackedChanges: 1, untrackedFiles: 0, changedSubmodules: 0 })).toEqual(["clean"]);
    expect(treeOf({ commit: "abc1234" })).toMatch(/^unknown/);
    expect(treeOf({ patchLeftOut: "git took longer than 500 ms" })).toBe(
      "unknown: git took longer than 500 ms",
    );
    expect(treeOf({ trackedChanges: 1, untrackedFiles: 3, changedSubmodules: 0 })).toEqual([
      "3 untracked files",
    ]);
    expect(
      treeOf({
        trackedChanges: 2,
        untrackedFiles: 0,
        changedSubmodules: 0,
        patchLeftOut: "too large",
        leftOutBytes: 2_100_000n,
      }),
    ).toEqual([expect.stringMatching(/^dirty, patch left out \(2.*B\)$/)]);
    expect(treeOf({ dirtyPatch: "+++ b/a.py\n@@ -0,0 +1 @@\n+a\n" })).toEqual([
      expect.stringMatching(/^dirty/),
      "+1 -0 in a.py",
    ]);
    expect(provenanceParts(create(RunSchema)).find(({ name }) => name === "Work tree")!.missing).toBe(
      "unknown",
    );
  });

  it("Z207 says what the commands do not bring back", () => {
    const gapOf = (code: MessageInitShape<typeof CodeSchema>) =>
      reproductionGap(create(RunSchema, { provenance: { code } }));
    expect(gapOf({ dirtyPatch: "x", trackedChanges: 2 })).toBe("");
    expect(gapOf({ patchLeftOut: "too large", untrackedFiles: 2, changedSubmodules: 1 })).toBe(
      "Not included: uncommitted changes that were left out, 2 untracked files, 1 changed submodule.",
    );
    expect(gapOf({ untrackedFiles: 2, archive: "archive.tar.gz" })).toBe("");
    expect(reproductionGap(create(RunSchema))).toBe("");
  });

  it("Z207 sets the version of data apart, links what a browser opens, and finds runs with the same value", () => {
    const parts = provenanceParts(
      create(RunSchema, {
        provenance: {
          trainingData: ["s3://c4@v3", "https://x.example/d.csv@sha256:0a"],
          study: 'the "best"',
          logsLocation: "javascript:alert(1)",
        },
      }),
    );
    const valuesOf = (name: string) => parts.find((each) => each.name === name)!.values;
    expect(valuesOf("Training data")).toEqual([
      { text: "s3://c4", version: "v3", query: 'training_data = "s3://c4@v3"' },
      {
        text: "https://x.example/d.csv",
        version: "sha256:0a",
        href: "https://x.example/d.csv",
        query: 'training_data = "https://x.example/d.csv@sha256:0a"',
      },
    ]);
    expect(valuesOf("Study")[0].query).toBe(`study = ${quoteText('the "best"')}`);
    expect(valuesOf("Logs")[0].href).toBeUndefined();
  });

  it("Z207 says who created, ended, changed and deleted the run, as far as it is known", () => {
    const namesOf = (run: Run) => peopleOf(run).map(({ name, values }) => [name, values[0]?.text]);
    expect(namesOf(create(RunSchema))).toEqual([
      ["Created by", undefined],
      ["User", undefined],
      ["Host", undefined],
    ]);
    const run = create(RunSchema, {
      creator: "ada",
      endedBy: "ci",
      deletedBy: "root",
      provenance: { user: "al", environment: { host: "gpu1" } },
    });
    expect(namesOf(run)).toEqual([
      ["Created by", "ada"],
      ["User", "al"],
      ["Host", "gpu1"],
      ["Ended by", "ci"],
      ["Deleted by", "root"],
    ]);
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
