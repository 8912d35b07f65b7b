import { wordOf } from "#lang/words/enums.ts";
import { Part, type ComparedPart } from "#proto/cairn/v1/explore_pb.ts";

/** As in the address. */
export function partId({ part }: ComparedPart): string {
  return wordOf(Part, part);
}

export function partTitle(part: ComparedPart): string {
  const word = partId(part);
  return word[0]!.toUpperCase() + word.slice(1);
}
