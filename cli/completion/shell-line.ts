/** A bash command line up to the cursor, split into words as bash does. */
export interface ShellLine {
  /** All of the last simple command; the last one is being typed and may be empty. */
  words: string[];
  /** The quote that is open at the end, if one is. */
  quote: "" | "'" | '"';
  /** How much of the last word bash keeps: it completes only what follows the last of its own word breaks. */
  keptLength: number;
}

const ENDS_COMMAND = /[;|&(){}\n`]/;

/** `breaks` is $COMP_WORDBREAKS. */
export function readShellLine(line: string, breaks: string): ShellLine {
  let words: string[] = [];
  let word: string | undefined;
  let quote: ShellLine["quote"] = "";
  let keptLength = 0;
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!;
    if (quote !== "") {
      if (char === quote) quote = "";
      else if (char === "\\" && quote === '"' && /["\\$`]/.test(line[i + 1] ?? ""))
        word = `${word}${line[++i]}`;
      else word = `${word}${char}`;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (char === "\\") word = `${word ?? ""}${line[++i] ?? ""}`;
    else if (/\s/.test(char) && char !== "\n") {
      if (word !== undefined) words.push(word);
      word = undefined;
      keptLength = 0;
    } else if (ENDS_COMMAND.test(char)) {
      words = [];
      word = undefined;
      keptLength = 0;
    } else {
      word = `${word ?? ""}${char}`;
      if (breaks.includes(char)) keptLength = word.length;
    }
  }
  return { words: [...words, word ?? ""], quote, keptLength };
}

const SAFE_BARE = /^[\p{L}\p{N}_./:@%+=,-]+$/u;

/** How a word has to be written so that bash takes it as it is. undefined when it cannot be within that quote. */
export function writeForShell(text: string, quote: ShellLine["quote"]): string | undefined {
  if (quote === "'") return text.includes("'") ? undefined : text;
  // History expansion works within double quotes and cannot be escaped there.
  if (quote === '"') return text.includes("!") ? undefined : text.replaceAll(/["\\$`]/g, "\\$&");
  return SAFE_BARE.test(text) ? text : text.replaceAll(/[^\p{L}\p{N}_./:@%+=,-]/gu, "\\$&");
}
