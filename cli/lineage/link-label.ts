import { wordOf } from "#lang/words/enums.ts";
import { SourceRole, type LineageEdge } from "#proto/cairn/v1/lineage_pb.ts";
import { printable } from "../output/text.ts";

/** What a link is called: the artifact that was used, or what the source was to the run; "" for a bare link. */
export function linkLabel({ artifact, role }: Pick<LineageEdge, "artifact" | "role">): string {
  return [printable(artifact), roleWord(role)].filter((text) => text !== "").join(" as ");
}

/** "training data"; "" for a link that was added by itself. */
export function roleWord(role: SourceRole): string {
  return role === SourceRole.UNSPECIFIED ? "" : wordOf(SourceRole, role);
}
