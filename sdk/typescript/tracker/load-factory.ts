import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "./report-problem.ts";

/**
 * What `module:factory` names, as seen from a folder: `./tracker.ts:create` (a path), `my-tracker:create` or
 * `@team/tracker/cairn:create` (a package). Without `:factory` it is the default export. Throws when there is none.
 */
export async function loadFactory(specifier: string, from: string): Promise<unknown> {
  const { module, name } = splitSpecifier(specifier);
  if (module === "") throw new Error("unknown tracker, and no module is given");
  let loaded: Record<string, unknown>;
  try {
    loaded = (await import(await moduleUrl(module, from))) as Record<string, unknown>;
  } catch (thrown) {
    throw new Error(`unknown tracker, and module "${module}" cannot be loaded: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
  if (!Object.hasOwn(loaded, name)) throw new Error(`module "${module}" exports no "${name}"`);
  return loaded[name];
}

/** At the last colon, so that `file:///x.ts:create` and `C:\x.ts:create` are paths. */
function splitSpecifier(specifier: string): { module: string; name: string } {
  const parts = /^(.*):([\p{ID_Start}$_][\p{ID_Continue}$]*)$/su.exec(specifier);
  if (parts === null) return { module: specifier, name: "default" };
  return { module: parts[1]!, name: parts[2]! };
}

async function moduleUrl(module: string, from: string): Promise<string> {
  if (/^(?:file|node):/.test(module)) return module;
  if (module.startsWith(".") || isAbsolute(module)) return pathToFileURL(resolve(from, module)).href;
  const require = createRequire(join(from, "package.json"));
  try {
    return pathToFileURL(require.resolve(module)).href;
  } catch (thrown) {
    // A package that is made for `import` alone.
    const file = await importedFile(module, require);
    if (file === undefined) throw thrown;
    return pathToFileURL(file).href;
  }
}

/** The file that `exports` of a package gives to an import. Patterns with `*` are not looked at. */
async function importedFile(module: string, require: NodeJS.Require): Promise<string | undefined> {
  const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/s.exec(module) ?? [];
  if (name === undefined) return undefined;
  for (const folder of require.resolve.paths(name) ?? []) {
    const packageDir = join(folder, name);
    const text = await readFile(join(packageDir, "package.json"), "utf8").catch(() => undefined);
    if (text === undefined) continue;
    const { exports } = JSON.parse(text) as { exports?: unknown };
    const key = `.${rest ?? ""}`;
    const isTable =
      typeof exports === "object" &&
      exports !== null &&
      Object.keys(exports).some((at) => at.startsWith("."));
    const target = isTable ? (exports as Record<string, unknown>)[key] : key === "." ? exports : undefined;
    const file = conditional(target);
    return file === undefined ? undefined : join(packageDir, file);
  }
  return undefined;
}

const CONDITIONS = new Set(["node", "import", "module-sync", "default"]);

function conditional(target: unknown): string | undefined {
  if (typeof target === "string") return target.startsWith("./") ? target : undefined;
  if (typeof target !== "object" || target === null) return undefined;
  for (const [condition, inner] of Object.entries(target)) {
    const found = CONDITIONS.has(condition) ? conditional(inner) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
