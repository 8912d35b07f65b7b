import { z } from "zod";

const ByName = z.record(z.string(), z.coerce.string());
const AsList = z.array(z.string());
const PREFIX = "package:";

export interface Environment {
  packages: Map<string, string>;
  others: Map<string, string>;
}

/**
 * Versions of packages, told apart from the rest of an environment. Clients write them one by one (`package:torch`), or
 * together under `packages`: a JSON object, a JSON list, or lines of `name==version` as `pip freeze` prints them.
 */
export function packagesOf(environment: Readonly<Record<string, string>>): Environment {
  const packages = new Map<string, string>();
  const others = new Map<string, string>();
  for (const [key, value] of Object.entries(environment)) {
    if (key.startsWith(PREFIX)) packages.set(key.slice(PREFIX.length), value);
    else if (key === "packages")
      for (const [name, version] of parsePackages(value)) packages.set(name, version);
    else others.set(key, value);
  }
  return { packages, others };
}

function parsePackages(text: string): Iterable<readonly [name: string, version: string]> {
  try {
    const parsed = z.union([ByName, AsList]).safeParse(JSON.parse(text));
    if (parsed.success)
      return Array.isArray(parsed.data) ? parsed.data.map(nameAndVersion) : Object.entries(parsed.data);
  } catch {
    // Then it is a list of lines.
  }
  return text
    .split(/[\n,;]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(nameAndVersion);
}

function nameAndVersion(line: string): readonly [string, string] {
  const match = /^(@?[^@=\s]+)\s*(?:===?|@| )\s*(.*)$/.exec(line);
  return match === null ? [line, ""] : [match[1]!, match[2]!];
}
