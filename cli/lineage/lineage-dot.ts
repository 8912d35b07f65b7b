import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import type { Lineage, LineageNode } from "#proto/cairn/v1/lineage_pb.ts";
import { shortId } from "#sdk/run-facts.ts";
import { printable } from "../output/text.ts";
import { linkLabel } from "./link-label.ts";
import { wordOf } from "#lang/words/enums.ts";

/** The graph for Graphviz, from what was used to what was made. */
export function lineageDot({ nodes, edges }: Lineage): string {
  const lines = ["digraph lineage {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];'];
  for (const [i, node] of nodes.entries()) {
    const style = node.hidden ? ", style=dotted" : node.externalId === "" ? "" : ", shape=cylinder";
    const isFirst = i === 0 ? ", penwidth=2" : "";
    lines.push(`  n${i} [label=${quote(labelOf(node))}${style}${isFirst}];`);
  }
  for (const edge of edges) {
    const label = linkLabel(edge);
    lines.push(`  n${edge.source} -> n${edge.child}${label === "" ? "" : ` [label=${quote(label)}]`};`);
  }
  return [...lines, "}"].join("\n");
}

function labelOf({ hidden, externalId, name, namespace, status, runId }: LineageNode): string {
  if (hidden) return "hidden";
  if (externalId !== "") return externalId;
  return `${name}\n${namespace}\n${wordOf(RunStatus, status)} ${shortId(runId)}`;
}

/** Graphviz reads backslashes in labels as its own escapes. */
function quote(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => printable(line).replaceAll("\\", "\\\\").replaceAll('"', '\\"'));
  return `"${lines.join("\\n")}"`;
}
