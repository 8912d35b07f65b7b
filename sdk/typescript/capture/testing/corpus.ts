/** The corpus of secrets that the tests of both clients run. */
import { readFileSync } from "node:fs";

export interface Form {
  where: "line" | "patch" | "command" | "environment" | "file";
  text: string;
  /** Empty for a harmless one. */
  secret: string;
}

interface Corpus {
  hostile: string[];
  values: Record<string, string[]>;
  secrets: { where: Form["where"]; secret: string; texts: string[] }[];
  harmless: { where: Form["where"]; texts: string[] }[];
}

function readFile(): Corpus {
  const path = new URL("../../../testing/secret-corpus.json", import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")) as Corpus;
}

/** What makes a careless pattern slow when it is repeated. */
export function hostilePieces(): string[] {
  return readFile().hostile;
}

export function readCorpus(): Form[] {
  const { values, secrets, harmless } = readFile();
  const valueOf = (name: string) => values[name]!.map(partOf).join("");
  return [
    ...secrets.flatMap(({ where, secret, texts }) =>
      texts.map((text) => ({
        where,
        text: text.replaceAll("{S}", valueOf(secret)),
        secret: valueOf(secret),
      })),
    ),
    ...harmless.flatMap(({ where, texts }) => texts.map((text) => ({ where, text, secret: "" }))),
  ];
}

export function wordsOf(command: string): string[] {
  return command.split(" ").map((word) => word.replaceAll("␣", " "));
}

/** `ab*3` is ababab. */
function partOf(part: string): string {
  const times = /^([^]*)\*(\d+)$/.exec(part);
  return times === null ? part : times[1]!.repeat(Number(times[2]));
}
