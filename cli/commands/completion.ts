import { readFile } from "node:fs/promises";
import { Argument, type Command } from "commander";
import type { Cli } from "../cli.ts";

const SHELLS = ["bash", "zsh", "fish"];

export default function add(command: Command, cli: Cli): void {
  command
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .addHelpText(
      "after",
      `
Completes commands and options, and asks the server for runs, namespaces, metrics and artifacts.

Examples:
  source <(cairn completion bash)                                       in ~/.bashrc
  cairn completion zsh > "\${fpath[1]}/_cairn"                            once
  cairn completion fish > ~/.config/fish/completions/cairn.fish         once`,
    )
    .action(async (shell: string) => {
      const script = await readFile(new URL(`../completion/cairn.${shell}`, import.meta.url), "utf8");
      if (cli.options.json === true) cli.printJson({ shell, script });
      else cli.print(script.trimEnd());
    });
}
