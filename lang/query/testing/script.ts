/**
 * Queries tested as scripts: the same text runs on every engine. Lines that are not indented are
 * commands, indented lines belong to the command before, `#` begins a comment line:
 *
 *   now 2026-02-01T00:00:00Z
 *
 *   load
 *     a params.lr=0.1 metrics.loss=[3,2,1]
 *     b params.lr=1 status=running
 *
 *   query params.lr < 0.5 or status = "running" order by params.lr
 *     a b
 *
 *   query params.lr <
 *     error 12 expected a value
 *
 * `load` replaces all runs (see script-run.ts for its lines). Below `query` are the names of the runs found, in order,
 * or `none`; before them there may be `limit N` (ask for the first N only),
 * `total N` (how many match; by default as many as are named) and `pages N` (walk through all pages of
 * N). `models` in the place of `query` searches models, which are named RUN:NAME@STEP. `error COLUMN TEXT` expects a syntax error whose message or hint holds the text.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CairnError } from "../../errors.ts";
import type { Query } from "../ast.ts";
import { parseQuery } from "../parser.ts";
import { parseScriptRun, type ScriptRun } from "./script-run.ts";
import { parseTimeUs } from "../time.ts";
import type { ViewedModel } from "./view.ts";

export type { ScriptRun };

/** What a script runs on. */
export interface ScriptEngine {
  /** Forgets all runs and holds these. */
  load(runs: readonly ScriptRun[]): Promise<void>;
  /** `text` is what the query was parsed from. */
  search(query: Query, options: ScriptSearch, text: string): Promise<ScriptFound>;
  /** Names are as `modelName` writes them. */
  searchModels(query: Query, options: ScriptSearch, text: string): Promise<ScriptFound>;
}

export interface ScriptSearch {
  limit: number;
  /** From the `next` of the page before. */
  after: string | undefined;
  /** For the duration of runs that have not ended. */
  nowUs: number;
}

export interface ScriptFound {
  names: readonly string[];
  total: number;
  next?: string | undefined;
}

export interface Script {
  file: string;
  text: string;
}

/** All scripts, rising by name. */
export function readScripts(): Script[] {
  const folder = join(import.meta.dirname, "..", "scripts");
  const files = readdirSync(folder).filter((file) => file.endsWith(".script"));
  return files.sort().map((file) => ({ file, text: readFileSync(join(folder, file), "utf8") }));
}

export function modelName(run: string, { name, step }: Pick<ViewedModel, "name" | "step">): string {
  return `${run}:${name}${step === undefined ? "" : `@${step}`}`;
}

/** Runs a script to its end and answers how many queries it held. Throws at the first that is not as expected. */
export async function runScript(script: Script, engine: ScriptEngine): Promise<number> {
  let nowUs = Date.UTC(2026, 1, 1) * 1000;
  let queries = 0;
  for (const command of parseCommands(script)) {
    try {
      if (command.verb === "now") nowUs = expectTime(command.rest);
      else if (command.verb === "load") await engine.load(command.lines.map(parseScriptRun));
      else if (command.verb === "query" || command.verb === "models") {
        const models = command.verb === "models";
        await runQuery(command.rest, parseExpectation(command.lines), engine, { nowUs, models });
        queries++;
      } else throw new Error(`unknown command "${command.verb}"`);
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      throw new Error(`${script.file}:${command.line}: ${command.verb} ${command.rest}\n${message}`, {
        cause: thrown,
      });
    }
  }
  return queries;
}

interface Command {
  verb: string;
  rest: string;
  lines: string[];
  line: number;
}

function parseCommands({ file, text }: Script): Command[] {
  const commands: Command[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const content = line.trim();
    if (content === "" || content.startsWith("#")) continue;
    if (!line.startsWith(" ")) {
      const space = content.indexOf(" ");
      const verb = space < 0 ? content : content.slice(0, space);
      commands.push({ verb, rest: content.slice(verb.length).trim(), lines: [], line: index + 1 });
    } else if (commands.length === 0) {
      throw new Error(`${file}:${index + 1}: an indented line before the first command`);
    } else commands.at(-1)!.lines.push(content);
  }
  return commands;
}

interface Expectation {
  names: string[];
  total: number | undefined;
  limit: number | undefined;
  pages: number | undefined;
  error: { column: string; text: string } | undefined;
}

const NAMES_MAX = 10_000;

function parseExpectation(lines: readonly string[]): Expectation {
  const expected: Expectation = {
    names: [],
    total: undefined,
    limit: undefined,
    pages: undefined,
    error: undefined,
  };
  let said = false;
  for (const line of lines) {
    const error = /^error (\d+) (.+)$/.exec(line);
    const options = /^(?:(?:limit|total|pages) \d+ ?)+$/.test(line)
      ? line.matchAll(/(\w+) (\d+)/g)
      : undefined;
    if (options !== undefined) {
      for (const [, option, count] of options) {
        expected[option as "limit" | "total" | "pages"] = Number(count);
      }
      continue;
    }
    if (error !== null) expected.error = { column: error[1]!, text: error[2]! };
    else if (line !== "none") expected.names.push(...line.split(/\s+/u));
    said = true;
  }
  if (!said) throw new Error("expected names of runs, none or error below the query");
  return expected;
}

async function runQuery(
  text: string,
  expected: Expectation,
  engine: ScriptEngine,
  options: { nowUs: number; models: boolean },
): Promise<void> {
  let query: Query;
  try {
    query = parseQuery(text, options);
  } catch (thrown) {
    if (expected.error === undefined) throw thrown;
    return checkError(CairnError.from(thrown), expected.error);
  }
  if (expected.error !== undefined) throw new Error("expected an error, but the query is good");
  const { nowUs } = options;
  const search: Search = (page) =>
    options.models
      ? engine.searchModels(query, { ...page, nowUs }, text)
      : engine.search(query, { ...page, nowUs }, text);
  const found = await searchAll(expected, search);
  const total = expected.total ?? expected.names.length;
  if (found.names.join(" ") !== expected.names.join(" ") || found.total !== total) {
    throw new Error(
      `expected ${expected.names.join(" ") || "none"} (total ${total})\n` +
        `found    ${found.names.join(" ") || "none"} (total ${found.total})`,
    );
  }
}

type Search = (page: Omit<ScriptSearch, "nowUs">) => Promise<ScriptFound>;

async function searchAll(expected: Expectation, search: Search): Promise<ScriptFound> {
  const limit = expected.pages ?? expected.limit ?? NAMES_MAX;
  const first = await search({ limit, after: undefined });
  const names = [...first.names];
  if (expected.pages === undefined) return first;
  for (let after = first.next; after !== undefined;) {
    const page = await search({ limit, after });
    if (page.names.length === 0 || page.names.length > limit) {
      throw new Error(`a page after "${after}" holds ${page.names.length} names`);
    }
    if (page.total !== first.total)
      throw new Error(`total went from ${first.total} to ${page.total} between pages`);
    names.push(...page.names);
    after = page.next;
  }
  return { names, total: first.total };
}

function checkError(error: CairnError, expected: { column: string; text: string }): void {
  const { column } = error.facts;
  const message = `${error.message}\n${error.hint ?? ""}`;
  if (error.code !== "invalid" || error.reason !== "QUERY_SYNTAX") throw error;
  if (column === expected.column && message.includes(expected.text)) return;
  throw new Error(`expected an error at column ${expected.column} with "${expected.text}", got:\n${message}`);
}

function expectTime(text: string): number {
  const timeUs = parseTimeUs(text);
  if (timeUs === undefined) throw new Error(`"${text}" is not a time`);
  return timeUs;
}
