import type { Cli } from "../cli.ts";

/** How wide a table may be: the terminal, or what COLUMNS says. A pipe takes everything, so nothing is cut for it. */
export function tableWidth(cli: Cli): number {
  return cli.isTerminal || cli.env["COLUMNS"] ? cli.columns : Infinity;
}
