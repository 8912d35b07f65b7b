import { createInterface } from "node:readline/promises";
import { CommandError, EXIT, type Cli } from "./cli.ts";

const SECRET_LENGTH_MAX = 4_096;
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";
const BACKSPACE: ReadonlySet<string> = new Set(["\u007f", "\b"]);

/** Asks on standard error. "" when the person ends the input. */
export async function ask(cli: Cli, question: string): Promise<string> {
  const { stdin, stderr } = cli.surroundings;
  const asked = createInterface({ input: stdin, output: stderr });
  try {
    asked.once("SIGINT", () => {
      asked.close();
      stderr.write("\n");
      cli.surroundings.exit(EXIT.interrupted);
    });
    const closed = new Promise<string>((resolve) => asked.once("close", () => resolve("")));
    const answer = await Promise.race([asked.question(question, { signal: cli.interrupted }), closed]);
    return answer.trim();
  } finally {
    asked.close();
  }
}

/** Only `y` and `yes` are a yes. Without a terminal it fails, with `--yes` as the hint. */
export async function confirm(cli: Cli, question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!cli.interactive || cli.options.json === true) {
    throw new CommandError(`cannot ask "${question}": there is no terminal`, {
      exitCode: EXIT.usage,
      hint: "add --yes to confirm",
    });
  }
  const answer = await ask(cli, `${question} [y/N] `);
  if (!/^y(?:es)?$/i.test(answer)) throw new CommandError("nothing was changed: it was not confirmed");
}

/** Asks for something that must not be seen: what is typed is not shown. The terminal is left as it was. */
export function askSecret(cli: Cli, question: string): Promise<string> {
  const { stdin, stderr } = cli.surroundings;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let typed = "";
  const end = () => {
    stdin.off("data", onData);
    process.off("exit", restore);
    restore();
    stdin.pause();
    stderr.write("\n");
  };
  const restore = () => void stdin.setRawMode?.(false);
  const onData = (chunk: string) => {
    for (const char of chunk) {
      if (char === CTRL_C) {
        end();
        cli.surroundings.exit(EXIT.interrupted);
        return;
      } else if (char === "\r" || char === "\n" || char === CTRL_D) {
        end();
        resolve(typed);
        return;
      } else if (BACKSPACE.has(char)) typed = typed.replace(/.$/su, "");
      else if (char === CTRL_U) typed = "";
      else if (typed.length < SECRET_LENGTH_MAX) typed += char;
      else {
        end();
        reject(
          new CommandError(`cannot use what was typed: it is longer than ${SECRET_LENGTH_MAX} characters`),
        );
        return;
      }
    }
  };
  process.once("exit", restore);
  // Before the question, so that a fast answer is not shown.
  stdin.setRawMode?.(true);
  stderr.write(question);
  stdin.setEncoding("utf8").on("data", onData).resume();
  return promise;
}

/** The first line of standard input, for secrets that scripts hand over. */
export async function readSecret(cli: Cli): Promise<string> {
  return (await readSecrets(cli, 1))[0]!;
}

/** So many lines of standard input; "" for missing ones. */
export async function readSecrets(cli: Cli, count: number): Promise<string[]> {
  let text = "";
  for await (const chunk of cli.surroundings.stdin.setEncoding("utf8")) {
    text += String(chunk);
    const lines = text.split("\n");
    if (lines.length > count) break;
    if (lines.some((line) => line.length > SECRET_LENGTH_MAX)) {
      throw new CommandError(
        `cannot use standard input: a line is longer than ${SECRET_LENGTH_MAX} characters`,
      );
    }
  }
  const lines = text.split("\n");
  return Array.from({ length: count }, (_, i) => (lines[i] ?? "").trim());
}
