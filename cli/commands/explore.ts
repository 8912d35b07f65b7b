import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { addFrontier } from "../explore/frontier.ts";
import { addImportance } from "../explore/importance.ts";
import { addKeys } from "../explore/keys.ts";

export default function add(command: Command, cli: Cli): void {
  command.addHelpText(
    "after",
    `
Examples:
  cairn explore keys -n langtech/asr
  cairn explore importance -n langtech/asr
  cairn explore frontier metrics.wer.min:min duration:min -n langtech/asr`,
  );
  addKeys(command, cli);
  addImportance(command, cli);
  addFrontier(command, cli);
}
