import { InvalidArgumentError, type Command } from "commander";
import type { Namespace } from "#proto/cairn/v1/namespace_pb.ts";
import type { Cli } from "../cli.ts";
import { jsonNamespace } from "../namespaces.ts";
import { padEnd, printable, widthOf } from "../output/text.ts";

/** `cairn ns tags`. */
export function addTags(command: Command, cli: Cli): void {
  command
    .command("tags")
    .description("the tags of a namespace; with KEY=VALUE or --remove, changes them")
    .argument("<path>")
    .argument("[tags...]", "KEY=VALUE, merged with those there are", addTag)
    .option("--remove <key...>", "tags that go", [])
    .addHelpText(
      "after",
      "\nExamples:\n  cairn ns tags langtech/asr\n  cairn ns tags langtech/asr team=speech --remove owner",
    )
    .action(async (path: string, given: Record<string, string> | [], { remove }: { remove: string[] }) => {
      const tags = Array.isArray(given) ? {} : given;
      const server = await cli.connect();
      const namespace =
        Object.keys(tags).length + remove.length === 0
          ? await server.namespaces.getNamespace({ path })
          : await server.namespaces.updateNamespace({ path, tags, removeTags: remove });
      if (cli.options.json === true) cli.printJson(jsonNamespace(namespace));
      else for (const line of tagLines(namespace)) cli.print(line);
    });
}

/** By key. */
export function tagLines({ tags }: Namespace): string[] {
  const shown = Object.entries(tags).map(([key, value]) => [printable(key), printable(value)] as const);
  const width = Math.max(...shown.map(([key]) => widthOf(key)));
  return shown.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `${padEnd(key, width)}  ${value}`);
}

function addTag(text: string, before: Record<string, string> = {}): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("expected KEY=VALUE, such as team=speech");
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}
