import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { wordOf } from "#lang/words/enums.ts";
import { paint } from "./text.ts";

type Style = Parameters<typeof paint>[1];
const MARKS: Readonly<Record<number, readonly [mark: string, style: Style]>> = {
  [RunStatus.SCHEDULED]: ["◌", "dim"],
  [RunStatus.RUNNING]: ["●", "cyan"],
  [RunStatus.FINISHED]: ["✓", "green"],
  [RunStatus.FAILED]: ["✗", "red"],
  [RunStatus.KILLED]: ["■", "yellow"],
  [RunStatus.LOST]: ["?", "magenta"],
};

/** A sign and the word, such as "✓ finished"; readable without colour. */
export function statusMark(status: RunStatus, colour: boolean): string {
  const [mark, style] = MARKS[status] ?? ["?", "dim"];
  return `${paint(colour, style, mark)} ${wordOf(RunStatus, status)}`;
}
