import { readFileSync } from "node:fs";

export interface Block {
  /** `sh`, `js`, `ts`. */
  language: string;
  code: string;
}

/** The code of a README, in its order. */
export function readBlocks(path: string): Block[] {
  const text = readFileSync(path, "utf8");
  return [...text.matchAll(/^```(?<language>\w+)\n(?<code>[\s\S]*?)^```$/gm)].map(({ groups }) => ({
    language: groups!["language"]!,
    code: groups!["code"]!,
  }));
}

/** The commands of the blocks for a shell. */
export function readCommands(path: string): string[] {
  return readBlocks(path)
    .filter(({ language }) => language === "sh")
    .flatMap(({ code }) => code.trim().split("\n"));
}
