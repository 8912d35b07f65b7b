/**
 * Who may import whom, checked over every TypeScript file. Run it with `node tools/layers.ts`; each
 * line it prints names a file, a line and the rule that is broken.
 */
import { posix } from "node:path";

import { type ESTree, Visitor } from "vite";

import packageJson from "../package.json" with { type: "json" };
import { lineOf, parseSource } from "./parse-source.ts";
import { readSources } from "./sources.ts";

export interface Layer {
  /** A folder; `x/*` stands for each folder in x on its own. */
  folder: string;
  /** Folders it may import, besides itself. */
  may: readonly string[];
  /** Packages and Node modules it must do without; `*` is every package, `node:*` every module of Node. */
  without?: readonly string[];
}

const INNER = ["core", "lang", "base", "proto/gen"];
const OUTER = ["wire", "store", "blob"];
const EVERYTHING = [...INNER, ...OUTER, "server", "sdk", "cli", "web", "e2e", "bench", "tools"];
/** What a page may use of the server. */
const CLIENT = ["sdk/typescript", "proto/gen", "lang", "base"];
/** What every page may use. */
const PARTS = ["web/src/widgets", "web/src/charts", "web/src/prepare", "web/src/data"];
/** Parts that get their data from pages: they neither call the server nor draw pages. */
const NO_QUESTIONS = ["react-dom", "@tanstack/react-query", "@connectrpc/connect"];
const NO_TRANSPORT = ["node:http", "node:http2", "node:https", "node:net", "node:tls", "node:dgram"];
const NO_OUTSIDE = ["@bufbuild/protobuf", "@connectrpc/connect", "node:sqlite", ...NO_TRANSPORT];

/** The first row that matches a file applies to it. */
const layers: readonly Layer[] = [
  { folder: "base", may: [], without: ["*"] },
  // Pages import it, so it does without Node.
  { folder: "lang", may: ["base"], without: ["node:*"] },
  // Each row of core names only rows before it, so that its folders have no cycles.
  inCore("types", []),
  inCore("ports", ["types"]),
  inCore("lists", ["types", "ports"]),
  inCore("journal", ["ports"]),
  inCore("quota", ["types"]),
  inCore("access", ["types", "ports", "lists", "journal", "quota"]),
  inCore("objective", ["types", "ports", "lists", "access"]),
  inCore("runs", ["types", "ports", "lists", "journal", "quota", "access", "objective"]),
  inCore("series", ["types", "ports", "lists", "access", "runs"]),
  inCore("artifacts", ["types", "ports", "lists", "journal", "access", "runs"]),
  inCore("models", ["types", "ports", "lists", "access"]),
  inCore("lineage", ["types", "ports", "lists", "access", "runs"]),
  inCore("watch", ["types", "ports", "journal", "access", "runs"]),
  inCore("logs", ["types", "ports", "access", "runs", "watch"]),
  inCore("explore", ["types", "ports", "lists", "access", "objective", "series"]),
  inCore("compare", ["types", "ports", "quota", "access", "objective", "runs", "series"]),
  inCore("ingest", ["types", "ports", "journal", "quota", "access", "runs", "artifacts", "watch"]),
  inCore("chores", ["ports", "runs", "artifacts"]),
  inCore("system", ["types", "ports", "journal", "access", "runs"]),
  { folder: "core/open-core.ts", may: ["core", "lang", "base"], without: NO_OUTSIDE },
  { folder: "proto/gen", may: [] },
  { folder: "wire/kit", may: INNER },
  { folder: "wire/*", may: [...INNER, "wire/kit"] },
  { folder: "store/contract", may: ["core", "lang", "base", "blob/memory"] },
  { folder: "store/*", may: INNER },
  { folder: "blob/*", may: INNER },
  { folder: "server", may: [...INNER, ...OUTER] },
  // The rules of secrets are one list for both clients, and a Python package contains its data.
  {
    folder: "sdk/typescript",
    may: ["lang", "base", "proto/gen", "sdk/python/cairn/capture/secret-rules.json"],
  },
  { folder: "cli", may: ["sdk/typescript", "server", "lang", "base", "proto/gen"] },
  { folder: "web/src/charts", may: ["lang", "base"], without: NO_QUESTIONS },
  { folder: "web/src/prepare", may: ["lang", "base"], without: NO_QUESTIONS },
  {
    folder: "web/src/widgets",
    may: ["web/src/prepare", "sdk/typescript/failure.ts", "proto/gen", "lang", "base"],
    without: NO_QUESTIONS,
  },
  { folder: "web/src/data", may: CLIENT },
  { folder: "web/src/panels/*", may: [...PARTS, ...CLIENT] },
  { folder: "web/src/pages/*", may: ["web/src/panels", ...PARTS, ...CLIENT] },
  { folder: "web/src/app", may: ["web/src/pages", ...PARTS, ...CLIENT] },
  { folder: "web", may: [] },
  { folder: "e2e", may: EVERYTHING },
  { folder: "bench", may: EVERYTHING },
  { folder: "tools", may: EVERYTHING },
];

function inCore(folder: string, may: readonly string[]): Layer {
  const others = may.map((other) => `core/${other}`);
  return { folder: `core/${folder}`, may: [...others, "lang", "base"], without: NO_OUTSIDE };
}

/**
 * Tests, benches and what is named `testing` (a file or a folder) keep their folder's rules and may use
 * these as well. Only they, and folders that are there for tests, may import test packages, `testing`
 * and the contract suites.
 */
const TEST_MAY = ["store/contract", "tools/dose.ts"];
const TEST_CODE = /\.(?:test|bench)\.ts$|(?:^|\/)testing(?:\.ts$|\/)/;
const TEST_FOLDERS = ["store/contract", "e2e", "bench", "tools"];
const TEST_ONLY = /^store\/contract\/|(?:^|\/)testing(?:\.ts$|\/)/;
const TEST_PACKAGES = new Set(["vitest", "fast-check"]);

function isForTests(file: string): boolean {
  return TEST_CODE.test(file) || TEST_FOLDERS.some((folder) => isIn(file, folder));
}

export interface Reference {
  specifier: string;
  line: number;
}

export interface Breach {
  file: string;
  line: number;
  rule: string;
}

/** The rows inside core that name a row after them. Without any there is no cycle of folders in core. */
export function checkOrder(rows: readonly Layer[]): string[] {
  const breaches: string[] = [];
  for (const [at, { folder, may }] of rows.entries()) {
    if (!isIn(folder, "core")) continue;
    for (const { folder: later } of rows.slice(at + 1)) {
      if (!may.some((other) => isIn(later, "core") && (isIn(later, other) || isIn(other, later)))) continue;
      breaches.push(`${folder} may import ${later}, but the row of ${later} comes after it`);
    }
  }
  return breaches;
}

/** All references of a file: imports and exports, static or not, of types too, and files named by URL. */
export function findReferences(file: string, text: string): Reference[] {
  const references: Reference[] = [];
  const add = (node: ESTree.Node | null | undefined) => {
    if (node?.type === "Literal" && typeof node.value === "string") {
      references.push({ specifier: node.value, line: lineOf(text, node.start) });
    }
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source),
    ExportNamedDeclaration: (node) => add(node.source),
    ExportAllDeclaration: (node) => add(node.source),
    ImportExpression: (node) => add(node.source),
    TSImportType: (node) => add(node.source),
    NewExpression: (node) => {
      if (node.callee.type !== "Identifier" || node.callee.name !== "URL") return;
      if (isImportMeta(node.arguments[1], "url") && namesSource(node.arguments[0])) add(node.arguments[0]);
    },
    CallExpression: (node) => {
      if (isImportMeta(node.callee, "resolve")) add(node.arguments[0]);
    },
  }).visit(parseSource(file, text));
  return references;
}

/** Whether the node is `import.meta.<property>`. */
function isImportMeta(node: ESTree.Node | undefined, property: string): boolean {
  return (
    node?.type === "MemberExpression" &&
    node.object.type === "MetaProperty" &&
    node.property.type === "Identifier" &&
    node.property.name === property
  );
}

function namesSource(node: ESTree.Node | undefined): boolean {
  return node?.type === "Literal" && typeof node.value === "string" && /\.[cm]?[jt]sx?$/.test(node.value);
}

/** The rules a file breaks. `aliases` are the subpath imports of package.json. */
export function checkFile(file: string, text: string, aliases: ReadonlyMap<string, string>): Breach[] {
  const layer = layerOf(file);
  if (layer === undefined) {
    // Files at the top configure tools; they belong to no layer and nothing may import them.
    if (!file.includes("/")) return [];
    return [{ file, line: 1, rule: "its folder has no row in the table of tools/layers.ts" }];
  }
  const breaches: Breach[] = [];
  for (const { specifier, line } of findReferences(file, text)) {
    const target = resolve(file, specifier, aliases);
    const rule =
      target === undefined ? packageBreach(file, layer, specifier) : fileBreach(file, layer, target);
    if (rule !== undefined) breaches.push({ file, line, rule });
  }
  return breaches;
}

function fileBreach(file: string, layer: Layer, target: string): string | undefined {
  if (target.endsWith(".test.ts")) return `imports ${target}, but tests must not be imported`;
  if (target === "package.json" && !isIn(file, "base") && !isIn(file, "core")) return undefined;
  if (TEST_ONLY.test(target) && !isForTests(file)) return `imports ${target}, but that is for tests`;
  const allowed = [ownFolder(file, layer), ...layer.may, ...(TEST_CODE.test(file) ? TEST_MAY : [])];
  if (allowed.some((folder) => isIn(target, folder))) return undefined;
  const others = layer.may.length === 0 ? "nothing of ours" : `only ${layer.may.join(", ")}`;
  return `imports ${target}, but ${layer.folder} may import ${others} besides itself`;
}

function packageBreach(file: string, layer: Layer, specifier: string): string | undefined {
  const name = packageName(specifier);
  if (TEST_PACKAGES.has(name)) {
    return isForTests(file) ? undefined : `imports ${name}, but that is for tests`;
  }
  const without = layer.without ?? [];
  const isNode = name.startsWith("node:");
  const refused =
    without.includes(name) ||
    (without.includes("*") && !isNode) ||
    (without.includes("node:*") && isNode && !isForTests(file));
  return refused ? `imports ${name}, but ${layer.folder} must do without it` : undefined;
}

/** The name of an imported package. */
export function packageName(specifier: string): string {
  if (specifier.startsWith("node:")) return specifier;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** The path of one of our files; undefined for a package. */
export function resolve(
  file: string,
  specifier: string,
  aliases: ReadonlyMap<string, string>,
): string | undefined {
  if (specifier.startsWith(".")) return posix.normalize(posix.join(posix.dirname(file), specifier));
  for (const [alias, folder] of aliases) {
    if (specifier.startsWith(alias))
      return posix.normalize(posix.join(folder, specifier.slice(alias.length)));
  }
  return undefined;
}

function layerOf(file: string): Layer | undefined {
  return layers.find(({ folder }) => {
    if (!folder.endsWith("/*")) return isIn(file, folder);
    return isIn(file, folder.slice(0, -2)) && depthOf(file) > depthOf(folder);
  });
}

/** The folder a file lives in as the table sees it: `store/sqlite` for the row `store/*`. */
function ownFolder(file: string, layer: Layer): string {
  return layer.folder.endsWith("/*")
    ? file.split("/").slice(0, depthOf(layer.folder)).join("/")
    : layer.folder;
}

function depthOf(path: string): number {
  return path.split("/").length;
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** `#core/*` to `./core/*` as `#core/` to `core/`. */
export function aliasesFrom(imports: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(
    Object.entries(imports).map(([alias, folder]) => [
      alias.replace(/\*$/, ""),
      posix.normalize(folder).replace(/\*$/, ""),
    ]),
  );
}

if (import.meta.main) {
  const aliases = aliasesFrom(packageJson.imports);
  const sources = await readSources();
  const breaches = [...sources].flatMap(([file, text]) => checkFile(file, text, aliases));
  const lines = breaches.map(({ file, line, rule }) => `${file}:${line}: ${rule}`);
  for (const rule of checkOrder(layers)) lines.push(`tools/layers.ts: ${rule}`);
  for (const line of lines) console.log(line);
  console.log(`${sources.size} files, ${lines.length} broken layer rules`);
  if (lines.length > 0) process.exitCode = 1;
}
