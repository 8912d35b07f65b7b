import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { LineageSchema, SourceRole, type Lineage } from "#proto/cairn/v1/lineage_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { lineageDot } from "./lineage-dot.ts";
import { lineageTree, throughArtifact } from "./lineage-tree.ts";

type Edge = readonly [source: number, child: number, artifact?: string, role?: SourceRole];

function graph(names: readonly string[], edges: readonly Edge[]): Lineage {
  return create(LineageSchema, {
    nodes: names.map((name) => {
      if (name === "hidden") return { hidden: true };
      if (name.includes("://")) return { externalId: name };
      return { runId: `id-${name}`, name, namespace: "n", status: RunStatus.FINISHED };
    }),
    edges: edges.map(([source, child, artifact = "", role = SourceRole.UNSPECIFIED]) => ({
      source,
      child,
      artifact,
      role,
    })),
  });
}

const draw = (lineage: Lineage) =>
  lineageTree(lineage, { colour: false, namespace: "n" }).map((line) =>
    line.replace(/ {2}✓ finished.*id-\w+/, ""),
  );

describe("lineageTree", () => {
  it("T28 draws both directions with the names on the links", () => {
    expect(
      draw(
        graph(
          ["me", "base", "s3://x", "hidden", "kid"],
          [
            [1, 0, "w.pt"],
            [2, 1],
            [3, 0],
            [0, 4, "m.pt"],
          ],
        ),
      ),
    ).toEqual([
      "me",
      "├─ sources",
      "│  ├─ w.pt ← base",
      "│  │  └─ s3://x (external)",
      "│  └─ hidden",
      "└─ children",
      "   └─ m.pt → kid",
    ]);
  });

  it("T258 names the role of data, once where it is linked in several ways", () => {
    const { TRAINING_DATA, INITIAL_STATE } = SourceRole;
    const lineage = graph(
      ["me", "s3://c4@v3", "base"],
      [
        [1, 0],
        [1, 0, "", TRAINING_DATA],
        [2, 0, "w.pt"],
        [2, 0, "w.pt", INITIAL_STATE],
        [1, 2, "", TRAINING_DATA],
      ],
    );
    expect(draw(lineage)).toEqual([
      "me",
      "└─ sources",
      "   ├─ training data ← s3://c4@v3 (external)",
      "   └─ w.pt, w.pt as initial state ← base",
      "      └─ training data ← s3://c4@v3 (external)",
    ]);
    expect(lineageDot(lineage)).toContain('n1 -> n0 [label="training data"];');
    expect(throughArtifact(lineage, "w.pt").edges).toMatchObject([{ role: 0 }, { role: INITIAL_STATE }]);
  });

  it("T28 marks a cycle and ends there", () => {
    expect(
      draw(
        graph(
          ["me", "a"],
          [
            [1, 0],
            [0, 1],
          ],
        ),
      ),
    ).toEqual([
      "me",
      "├─ sources",
      "│  └─ a",
      "│     └─ me  ↺ a cycle",
      "└─ children",
      "   └─ a",
      "      └─ me  ↺ a cycle",
    ]);
  });

  it("T28 expands each node once, on however many paths it is reached", () => {
    const levels = 30;
    const names = ["me", ...Array.from({ length: 2 * levels }, (_, i) => `r${i}`)];
    const edges: Edge[] = [
      [1, 0],
      [2, 0],
    ];
    for (let level = 1; level < levels; level++) {
      const [a, b] = [2 * level - 1, 2 * level];
      for (const source of [a + 2, b + 2]) edges.push([source, a], [source, b]);
    }
    const lines = draw(graph(names, edges));
    expect(lines.length).toBeLessThan(6 * levels);
    expect(lines.some((line) => line.endsWith("⋯ see above"))).toBe(true);
  });

  it("T28, T16: names cannot control the terminal", () => {
    const text = lineageTree(graph(["me", "\u001b]0;x\u0007evil"], [[1, 0, "\u001b[2J"]]), {
      colour: false,
      namespace: "",
    });
    expect(text.join("\n")).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});

describe("throughArtifact", () => {
  it("T28 keeps what links through that artifact reach", () => {
    const kept = throughArtifact(
      graph(
        ["me", "a", "b", "c", "d"],
        [
          [1, 0, "w"],
          [2, 1, "w"],
          [3, 0],
          [4, 3, "w"],
        ],
      ),
      "w",
    );
    expect(kept.nodes.map(({ name }) => name)).toEqual(["me", "a", "b"]);
    expect(kept.edges.map(({ source, child }) => [source, child])).toEqual([
      [1, 0],
      [2, 1],
    ]);
  });
});

describe("lineageDot", () => {
  it("T28 quotes untrusted text", () => {
    const dot = lineageDot(graph(["me", 'a"];b\\'], [[1, 0, '"x']]));
    expect(dot).toContain('n1 [label="a\\"];b\\\\\\nn\\nfinished id-a\\"];b\\\\"];');
    expect(dot).toContain('n1 -> n0 [label="\\"x"];');
  });
});
