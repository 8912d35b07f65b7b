import type { Cli } from "../cli.ts";

/** How wide a table may be: the width of the terminal, or COLUMNS. For a pipe nothing is cut. */
export function tableWidth(cli: Cli): number {
  return cli.isTerminal || cli.env["COLUMNS"] ? cli.columns : Infinity;
}
