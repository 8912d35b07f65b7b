import type { Command } from "commander";
import { splitOrder } from "#lang/query/draft/order.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { collect } from "../parse-count.ts";
import { showTop, printTop } from "../top/top.ts";

interface TopOptions {
  namespace: string;
  metric?: string[];
}

export default function add(command: Command, cli: Cli): void {
  command
    .argument("[query]", "only running runs that match", "")
    .option("-n, --namespace <path>", "only runs in here and below", "")
    .option("-m, --metric <key>", "show this metric (may be repeated) instead of the objective", collect)
    .addHelpText(
      "after",
      `
Keys: arrows or j k select, enter shows details, / filters, s sorts, ? explains all, q leaves.
If standard output is not a terminal, the running runs are printed once.

Examples:
  cairn top
  cairn top -n langtech/asr
  cairn top 'tags.team = "vision"' -m val/miou -m train/loss
  cairn top --json`,
    )
    .action(async (query: string, options: TopOptions) => {
      if (splitOrder(query).order !== "") {
        throw new CommandError("cannot use a query with an order: the view sorts by itself", {
          exitCode: EXIT.usage,
          hint: "leave out `order by`, and press s to sort",
        });
      }
      const feed = { query, namespace: options.namespace, metrics: options.metric ?? [] };
      const live = cli.isTerminal && cli.options.json !== true;
      await (live ? showTop(cli, feed) : printTop(cli, feed));
    });
}
