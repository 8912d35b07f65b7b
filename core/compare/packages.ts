import { leafContent } from "#lang/json/leaf.ts";
import { JsonError, parseJson, type JsonNode } from "#lang/json/parse.ts";

const PREFIX = "package:";

export interface SplitEnvironment {
  packages: Map<string, string>;
  others: Map<string, string>;
}

/**
 * Versions of packages, apart from the rest of an environment. Clients write them one by one (`package:torch`), or
 * together under `packages`: a JSON object, a JSON list, or lines of `name==version` as `pip freeze` prints them.
 */
export function splitEnvironment(environment: ReadonlyMap<string, string>): SplitEnvironment {
  const packages = new Map<string, string>();
  const others = new Map<string, string>();
  for (const [key, value] of environment) {
    if (key.startsWith(PREFIX)) packages.set(key.slice(PREFIX.length), value);
    else if (key === "packages")
      for (const [name, version] of parsePackages(value)) packages.set(name, version);
    else others.set(key, value);
  }
  return { packages, others };
}

type Version = readonly [name: string, version: string];

function parsePackages(text: string): Version[] {
  const node = parseForeign(text);
  if (node?.type === "object") return Array.from(node.entries, ([name, value]) => [name, wordOf(value)]);
  if (node?.type === "list") return node.items.map((item) => nameAndVersion(wordOf(item)));
  return text
    .split(/[\n,;]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(nameAndVersion);
}

/** undefined for text that is not JSON. */
function parseForeign(text: string): JsonNode | undefined {
  try {
    return parseJson(text, { isForeign: true });
  } catch (thrown) {
    if (thrown instanceof JsonError) return undefined;
    throw thrown;
  }
}

function wordOf(node: JsonNode): string {
  return "source" in node ? leafContent(node) : "";
}

function nameAndVersion(line: string): Version {
  const match = /^(@?[^@=\s]+)\s*(?:===?|@|\s)\s*(.*)$/.exec(line);
  return match === null ? [line, ""] : [match[1]!, match[2]!];
}
