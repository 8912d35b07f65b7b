const PREFIX = "package:";

export interface Environment {
  packages: Map<string, string>;
  others: Map<string, string>;
}

/**
 * Versions of packages, told apart from the rest of an environment. Clients write them one by one (`package:torch`), or together under `packages`: as a JSON object or
 * list, or as lines of `name==version`.
 */
export function splitEnvironment(environment: Readonly<Record<string, string>>): Environment {
  const packages = new Map<string, string>();
  const others = new Map<string, string>();
  for (const [key, value] of Object.entries(environment)) {
    if (key.startsWith(PREFIX)) packages.set(key.slice(PREFIX.length), value);
    else if (key === "packages")
      for (const [name, version] of readPackages(value)) packages.set(name, version);
    else others.set(key, value);
  }
  return { packages, others };
}

function readPackages(text: string): [name: string, version: string][] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return text
      .split(/[\n,;]/)
      .map((line) => line.trim())
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map(nameAndVersion);
  }
  if (Array.isArray(json)) return json.map((item) => nameAndVersion(String(item)));
  if (typeof json !== "object" || json === null) return [nameAndVersion(text)];
  return Object.entries(json).map(([name, version]) => [name, String(version)]);
}

function nameAndVersion(line: string): [string, string] {
  const [, name, version] = /^(@?[^@=\s]+)\s*(?:={2,3}|@|\s)\s*(.*)$/.exec(line) ?? [];
  return name === undefined ? [line, ""] : [name, version!];
}
