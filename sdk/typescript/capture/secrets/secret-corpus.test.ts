import { describe, expect, it } from "vitest";
import { knownSecretRedactor } from "./known-secrets.ts";
import { redactFile, redactPatch } from "../patch.ts";
import { redactArgs } from "./secret-args.ts";
import { isSecretPath } from "./secret-files.ts";
import { LineRedactor } from "./secret-lines.ts";
import { isSecretName } from "./secret-names.ts";
import { redactText } from "./secrets.ts";
import { hostilePieces, readCorpus, wordsOf, type Form } from "../testing/corpus.ts";
import { chosenVariables } from "../variables.ts";

const corpus = readCorpus();
const HEAD = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n";

/** What would be stored of a form. */
function stored({ where, text }: Form): string {
  switch (where) {
    case "line": {
      const redactor = new LineRedactor({});
      return text
        .split("\n")
        .map((line) => redactor.redact(line))
        .join("\n");
    }
    case "patch":
      return redactPatch(`${HEAD}${text}\n`).text.slice(HEAD.length, -1);
    case "command":
      return redactArgs(wordsOf(text)).join(" ");
    case "environment": {
      const [name, value] = pairOf(text);
      const [line] = [new LineRedactor({ [name]: value }).redact(`printed ${value}`)];
      const chosen = chosenVariables({ [name]: value });
      const code = isSecretName(name) ? archived("train.py", `call("${value}")`, { [name]: value }) : "";
      return [...[...chosen].map(([key, one]) => `${key}=${one}`), line, code].join("\n").trimEnd();
    }
    case "file": {
      const path = text.slice(0, text.indexOf("\n"));
      return isSecretPath(path) ? "" : `${path}\n${archived(path, text.slice(path.length + 1))}`;
    }
  }
}

function archived(path: string, text: string, env: Record<string, string> = {}): string {
  return redactFile(Buffer.from(text), path, knownSecretRedactor(env)).toString();
}

/** It adds a file. */
function patchOf(text: string): string {
  const [path, ...lines] = text.trimEnd().split("\n");
  const content = lines.map((line) => `+${line}\n`).join("");
  return `diff --git a/${path} b/${path}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${content}`;
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
}

describe("the corpus of secrets", () => {
  it("C40 has at least 200 forms with a secret and 100 without, in all places", () => {
    expect(corpus.filter(({ secret }) => secret !== "").length).toBeGreaterThanOrEqual(200);
    expect(corpus.filter(({ secret }) => secret === "").length).toBeGreaterThanOrEqual(100);
    const places = corpus.map(({ where }) => where);
    expect(new Set(places)).toEqual(new Set(["line", "patch", "command", "environment", "file"]));
  });

  it("S30 C40 stores none of the secrets", () => {
    const kept = corpus.filter((form) => form.secret !== "" && stored(form).includes(form.secret));
    expect(kept.map(({ where, text }) => `${where}: ${text}`)).toEqual([]);
  });

  it("C40 leaves harmless text as it is", () => {
    const expected = ({ where, text }: Form) =>
      where === "environment" ? `${text}\nprinted ${pairOf(text)[1]}` : text.replaceAll("␣", " ");
    const changed = corpus.filter((form) => form.secret === "" && stored(form) !== expected(form));
    expect(changed.map((form) => `${form.where}: ${form.text} -> ${stored(form)}`)).toEqual([]);
  });

  it("C27 C40 makes the same of a file in a patch", () => {
    for (const form of corpus.filter(({ where }) => where === "file")) {
      const patch = patchOf(form.text);
      const clean = redactPatch(patch).text;
      if (form.secret === "") expect(clean).toBe(patch);
      else expect(clean).not.toContain(form.secret);
    }
  });

  it("C40 keeps the number of lines, and a second pass changes nothing", () => {
    for (const form of corpus.filter(({ where }) => where === "line" || where === "patch")) {
      const once = stored(form);
      expect(once.split("\n").length, form.text).toBe(form.text.split("\n").length);
      expect(stored({ ...form, text: once }), form.text).toBe(once);
    }
  });

  it("C40 takes linear time for any line", () => {
    const cpuMs = () => process.cpuUsage().user / 1000;
    for (const piece of hostilePieces()) {
      const line = piece.repeat(Math.ceil(65_536 / piece.length));
      const redactor = new LineRedactor({});
      redactor.redact(line);
      const startMs = cpuMs();
      for (let count = 0; count < 16; count++) redactor.redact(line);
      // A megabyte. The slowest took 136 ms on a busy machine.
      expect(cpuMs() - startMs, piece).toBeLessThan(500);
    }
  });

  it("C40 takes linear time for a patch, too", () => {
    for (const piece of hostilePieces()) {
      const text = `+${piece.repeat(20)}\n`.repeat(Math.ceil(300_000 / (piece.length * 20 + 2)));
      for (const mode of ["code", "settings"] as const) {
        const startMs = process.cpuUsage().user / 1000;
        redactText(text, mode);
        expect(process.cpuUsage().user / 1000 - startMs, `${mode}: ${piece}`).toBeLessThan(600);
      }
    }
  });
});
