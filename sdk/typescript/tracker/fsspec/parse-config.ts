export type FsspecSettings = Map<string, string | FsspecSettings>;

/**
 * The config file of TorchX's fsspec tracker: `key=value` lines, dots in keys for nesting, "#" in the first column for
 * a comment; a line without "=" is ignored. Throws for a key that ends with a dot, and for one that is both a value
 * and a section.
 */
export function parseFsspecConfig(text: string): FsspecSettings {
  const settings: FsspecSettings = new Map();
  for (const line of text.split(/\r\n|\r|\n/)) {
    const divider = line.indexOf("=");
    if (line.startsWith("#") || divider < 1) continue;
    put(settings, line.slice(0, divider).trim(), line.slice(divider + 1).trim());
  }
  return settings;
}

function put(settings: FsspecSettings, key: string, value: string): void {
  if (key.endsWith(".")) throw new Error(`cannot use config key "${key}": it ends with a dot`);
  const parts = key.split(".");
  const last = parts.pop()!;
  let at = settings;
  for (const part of parts) {
    const inner = at.get(part) ?? new Map<string, string>();
    if (typeof inner === "string") throw new Error(`cannot use config key "${key}": "${part}" has a value`);
    at.set(part, inner);
    at = inner;
  }
  at.set(last, value);
}
