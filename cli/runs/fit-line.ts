import { stripVTControlCharacters } from "node:util";
import { cut, widthOf } from "../output/text.ts";

/** A line that would wrap is cut; then it loses its styles, so that none is cut in two. */
export function fitLine(line: string, columns: number): string {
  return widthOf(line) <= columns ? line : cut(stripVTControlCharacters(line), columns);
}
