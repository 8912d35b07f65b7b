import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { LineageSchema, SourceRole } from "#proto/cairn/v1/lineage_pb.ts";
import { layOutLineage, NODE_HEIGHT, NODE_WIDTH } from "./lineage-layout.ts";

function lineage(distances: readonly number[], edges: readonly (readonly [number, number])[]) {
  return create(LineageSchema, {
    nodes: distances.map((distance, i) => ({ runId: `r${i}`, distance })),
    edges: edges.map(([source, child]) => ({ source, child })),
  });
}

describe("a lineage as a picture", () => {
  it("Z48 has sources on the left and children on the right", () => {
    const { nodes } = layOutLineage(
      lineage(
        [0, -1, 1, -2],
        [
          [1, 0],
          [0, 2],
          [3, 1],
        ],
      ),
    );
    const x = nodes.map((node) => node.x);
    expect(x[3] < x[1] && x[1] < x[0] && x[0] < x[2]).toBe(true);
  });

  it("Z48 has no overlaps, also in a cycle and with many nodes", () => {
    let state = 7;
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (let round = 0; round < 30; round++) {
      const count = 1 + Math.floor(random() * 60);
      const distances = Array.from({ length: count }, (_, i) => (i === 0 ? 0 : Math.floor(random() * 7) - 3));
      const edges = Array.from(
        { length: count * 2 },
        () => [Math.floor(random() * count), Math.floor(random() * count)] as const,
      );
      const { nodes, edges: lines, width, height } = layOutLineage(lineage(distances, edges));
      for (const a of nodes) {
        expect(a.x >= 0 && a.x + NODE_WIDTH <= width && a.y >= 0 && a.y + NODE_HEIGHT <= height).toBe(true);
        for (const { x, y } of lines.flatMap(({ via }) => via)) {
          expect(a.x === x && Math.abs(a.y - y) < NODE_HEIGHT).toBe(false);
        }
        for (const b of nodes) {
          if (a.index < b.index)
            expect(Math.abs(a.x - b.x) >= NODE_WIDTH || Math.abs(a.y - b.y) >= NODE_HEIGHT).toBe(true);
        }
      }
    }
  });

  it("Z208 labels an edge with the artifact and the role, once for data in several roles", () => {
    const { edges } = layOutLineage(
      create(LineageSchema, {
        nodes: [{ runId: "r0" }, { externalId: "s3://a", distance: -1 }, { runId: "r1", distance: -1 }],
        edges: [
          { source: 1, child: 0, role: SourceRole.TRAINING_DATA },
          { source: 1, child: 0, role: SourceRole.TEST_DATA },
          { source: 2, child: 0, artifact: "w.pt", role: SourceRole.INITIAL_STATE },
          { source: 2, child: 0, artifact: "w.pt" },
        ],
      }),
    );
    expect(edges.map(({ label }) => label)).toEqual(["training data, test data", "w.pt, initial state"]);
  });

  it("Z208 puts a label at the end of its edge that no other edge has", () => {
    const { nodes, edges } = layOutLineage(
      lineage(
        [0, -1, -1, 1, 1],
        [
          [1, 0],
          [2, 0],
          [0, 3],
          [0, 4],
        ],
      ),
    );
    const middle = (index: number) => nodes[index].y + NODE_HEIGHT / 2;
    expect(edges.map(({ y }) => y)).toEqual([middle(1), middle(2), middle(3), middle(4)]);
  });

  it("Z48 puts sources left of the runs that used them, at any distance", () => {
    // The corpus (3) was used by the run (0) itself and by its grandparent (2).
    const { nodes } = layOutLineage(
      lineage(
        [0, -1, -2, -1],
        [
          [1, 0],
          [2, 1],
          [3, 0],
          [3, 2],
        ],
      ),
    );
    const x = nodes.map((node) => node.x);
    expect(x[3] < x[2] && x[2] < x[1] && x[1] < x[0]).toBe(true);
  });

  it("Z48 puts neighbours side by side", () => {
    // Two chains, given crosswise.
    const { nodes } = layOutLineage(
      lineage(
        [0, -1, -1, -2, -2],
        [
          [1, 0],
          [2, 0],
          [4, 1],
          [3, 2],
        ],
      ),
    );
    const y = nodes.map((node) => node.y);
    expect(Math.sign(y[1] - y[2])).toBe(Math.sign(y[4] - y[3]));
  });
});
