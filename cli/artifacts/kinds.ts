import { InvalidArgumentError } from "commander";
import { ArtifactKind } from "#proto/cairn/v1/artifact_pb.ts";
import { wordOf } from "#lang/words/enums.ts";

/** In the order of their numbers, from 1 on. */
export const ARTIFACT_KINDS: readonly string[] = Object.values(ArtifactKind)
  .filter((kind) => typeof kind === "number" && kind !== ArtifactKind.UNSPECIFIED)
  .map((kind) => wordOf(ArtifactKind, kind as number));

/** The number of a kind. */
export function parseKind(word: string): ArtifactKind {
  const place = ARTIFACT_KINDS.indexOf(word.toLowerCase());
  if (place >= 0) return (place + 1) as ArtifactKind;
  throw new InvalidArgumentError(`kinds are ${ARTIFACT_KINDS.join(", ")}.`);
}
