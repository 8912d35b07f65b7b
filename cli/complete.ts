/**
 * What shells call while a line is typed: `cairn __complete bash LINE BREAKS`, or `cairn __complete words WORD…` for
 * shells that split and quote words themselves. One candidate per line, for the latter with a note behind a tab;
 * `:files` alone lets the shell complete files. Silent on errors: a message would disturb the line that is being typed.
 */
import type { Command, Option } from "commander";
import type { Cli } from "./cli.ts";
import { candidatesOf, type Candidate, type Kind, type Typed } from "./completion/candidates.ts";
import { kindsOfArgument, kindsOfOption } from "./completion/kinds.ts";
import { readShellLine, writeForShell } from "./completion/shell-line.ts";
import { buildProgram, ROWS } from "./program.ts";

/** After this, a user has typed on. */
const DEADLINE_MS = 1_000;
const DEADLINE_MS_MAX = 600_000;
const FILES = ":files";
/** A tab or a line break would be read as the end of a candidate, and the others could move the cursor. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

export async function complete(cli: Cli, request: readonly string[]): Promise<void> {
  const giveUp = setTimeout(() => cli.surroundings.exit(0), deadlineMs(cli.env["CAIRN_COMPLETION_MS"]));
  try {
    const lines = request[0] === "bash" ? await forBash(cli, request) : await forWords(cli, request.slice(1));
    if (lines.length > 0) cli.surroundings.stdout.write(`${lines.join("\n")}\n`);
  } catch {
    // Nothing to offer.
  } finally {
    clearTimeout(giveUp);
  }
}

/** With a slow connection or a busy machine a user may choose to wait longer. */
function deadlineMs(wanted: string | undefined): number {
  const ms = Number(wanted);
  return ms > 0 && ms <= DEADLINE_MS_MAX ? ms : DEADLINE_MS;
}

async function forBash(cli: Cli, [, line = "", breaks = ""]: readonly string[]): Promise<string[]> {
  const { words, quote, keptLength } = readShellLine(line, breaks);
  const start = words.findIndex((word) => /(?:^|\/)cairn$/.test(word));
  const found = await completeWords(cli, words.slice(start + 1));
  if (found === FILES) return [FILES];
  return found.flatMap(({ text }) => writeForShell(text.slice(keptLength), quote) ?? []);
}

async function forWords(cli: Cli, words: readonly string[]): Promise<string[]> {
  const found = await completeWords(cli, words);
  if (found === FILES) return [FILES];
  return found.map(({ text, note = "" }) => `${text}\t${UNFIT.test(note) ? "" : note}`);
}

async function completeWords(cli: Cli, words: readonly string[]): Promise<Candidate[] | typeof FILES> {
  const word = words.at(-1) ?? "";
  const before = takeGlobals(cli, words.slice(0, -1));
  const row = ROWS.find(({ name }) => name === before[0]);
  const program = await buildProgram(cli, row);
  const place = findPlace(program, before);
  const typed: Typed = {
    word,
    before: place.operands,
    namespace: place.namespace,
    trashed: row?.name === "restore" || before.includes("--purge"),
  };
  const offered = await offer(cli, place, typed);
  if (offered === FILES) return FILES;
  const fitting = offered.filter(({ text }) => text.startsWith(word) && text !== "" && !UNFIT.test(text));
  return [...new Map(fitting.map((one) => [one.text, one])).values()];
}

/** The server that the line names is the one to ask. */
function takeGlobals(cli: Cli, words: readonly string[]): string[] {
  const rest: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (word === "--server" && i + 1 < words.length) cli.options.server = words[++i]!;
    else if (word.startsWith("--server=")) cli.options.server = word.slice("--server=".length);
    else if (word !== "--json") rest.push(word);
  }
  return rest;
}

interface Place {
  command: Command;
  /** The option whose value is being typed, if any. */
  option: Option | undefined;
  operands: string[];
  namespace: string;
  afterDashes: boolean;
}

/** Walks over what was typed: into subcommands, over options and their values. */
function findPlace(program: Command, words: readonly string[]): Place {
  const place: Place = {
    command: program,
    option: undefined,
    operands: [],
    namespace: "",
    afterDashes: false,
  };
  for (const word of words) {
    const { option } = place;
    if (option !== undefined) {
      if (option.long === "--namespace") place.namespace = word;
      place.option = undefined;
    } else if (place.afterDashes) place.operands.push(word);
    else if (word === "--") place.afterDashes = true;
    else if (word.startsWith("-")) {
      const known = place.command.options.find(({ long, short }) => long === word || short === word);
      if (known?.required === true) place.option = known;
    } else {
      const sub = place.operands.length === 0 ? subcommand(place.command, word) : undefined;
      if (sub === undefined) place.operands.push(word);
      else place.command = sub;
    }
  }
  return place;
}

function subcommand(command: Command, name: string): Command | undefined {
  return command.commands.find((each) => each.name() === name);
}

async function offer(cli: Cli, place: Place, typed: Typed): Promise<Candidate[] | typeof FILES> {
  const { command, option } = place;
  if (option !== undefined) {
    return option.argChoices?.map((text) => ({ text })) ?? fromServer(cli, kindsOfOption(option), typed);
  }
  if (typed.word.startsWith("-") && !place.afterDashes) return optionsOf(command);
  const argument = command.registeredArguments[place.operands.length] ?? lastIfMany(command);
  const fixed: Candidate[] = argument?.argChoices?.map((text) => ({ text })) ?? [];
  if (place.operands.length === 0) {
    for (const each of command.commands) fixed.push({ text: each.name(), note: each.description() });
  }
  const kinds = argument === undefined ? [] : kindsOfArgument(argument);
  const found = await fromServer(cli, kinds, typed);
  return found === FILES ? FILES : [...fixed, ...found];
}

function lastIfMany(command: Command) {
  const last = command.registeredArguments.at(-1);
  return last?.variadic === true ? last : undefined;
}

/** Also those that every command has. */
function optionsOf(command: Command): Candidate[] {
  const all: Candidate[] = [{ text: "--help", note: "print help" }];
  for (let at: Command | null = command; at !== null; at = at.parent) {
    for (const option of at.options) {
      if (!option.hidden && option.long) all.push({ text: option.long, note: option.description });
    }
  }
  return all;
}

/** A kind that fails does not suppress the others. */
async function fromServer(
  cli: Cli,
  kinds: readonly Kind[],
  typed: Typed,
): Promise<Candidate[] | typeof FILES> {
  if (kinds.includes("file")) return FILES;
  if (kinds.length === 0) return [];
  const server = await cli.connect();
  const found = await Promise.allSettled(kinds.map((kind) => candidatesOf(kind, server, typed)));
  return found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
}
