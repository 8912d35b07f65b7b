import { describe, expect, it } from "vitest";
import { redactPatch } from "#sdk/capture/patch.ts";
import { redactArgs } from "#sdk/capture/secrets/secret-args.ts";
import { LineRedactor } from "#sdk/capture/secrets/secret-lines.ts";
import { readCorpus, wordsOf, type Form } from "#sdk/capture/testing/corpus.ts";
import { askPython, usePythonTests } from "./python.ts";

const tests = usePythonTests();

describe("what the Python client records by itself", () => {
  it("Y13 records console, code, packages, machine and load, and no secret", () =>
    tests("test_capture", "test_provenance.CapturedTest"));

  it("Y201 says what git said of the work tree, and what it did not", () => tests("test_provenance.GitTest"));

  it("Y200 loses no provenance in any order of calls", () => tests("test_order"));

  it("Y204 stores what a program states about its data", () =>
    tests("test_provenance.ReferenceTest", "test_stated"));

  it("Y35 records nothing whose capture the server forbids", () => tests("test_forbidden"));

  it("Y16 redacts every text with secrets as the TypeScript client does", async () => {
    const corpus = readCorpus().filter(({ where }) => where !== "file" && where !== "environment");
    const more = [
      "python train.py --lr 0.1 --hub-token abc --max-tokens 5 --password=hunter2␣x API_KEY=abc --tokenizer bpe --no-auth y",
      `postgres://u:p@host/db https://host:80/x ssh://git@host/x ghp_${"a".repeat(30)}`,
      '-H Authorization:␣Bearer␣abcdefghij {"secret":␣"x",␣"n":␣1} --secret -- -v',
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI.sig wandb_api_key:␣abc keys=3 a.b.token=5 AKIAABCDEFGHIJKLMNOP",
    ].map((text): Form => ({ where: "command", text, secret: "" }));
    const binary = "literal 30\nzcmb=J0YJ`#api_key=q9w8e7r6t5y4u3i2\n\nliteral 0\nHcmV?d00001\n\n";
    const patch = `diff --git a/x.bin b/x.bin\nGIT binary patch\n${binary}diff --git a/y.py b/y.py\n+password = "hunter2x"\n`;
    more.push({ where: "patch", text: patch, secret: "" });
    const forms = [...corpus, ...more];
    const program = [
      "import json, sys",
      "from cairn.capture.patch import redact_patch",
      "from cairn.capture.secret_args import redact_args",
      "from cairn.capture.secret_lines import LineRedactor",
      "from tests.corpus import words_of",
      "for form in json.load(open(sys.argv[1])):",
      "    text, redactor = form['text'], LineRedactor({})",
      "    if form['where'] == 'line': clean = [redactor.redact(line) for line in text.split('\\n')]",
      "    elif form['where'] == 'patch': clean = [redact_patch(text)]",
      "    else: clean = redact_args(words_of(text))",
      "    print(json.dumps(clean))",
    ].join("\n");
    const output = await askPython(program, forms);
    const found = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as string[]);
    expect(found).toHaveLength(forms.length);
    for (const [at, form] of forms.entries()) expect(found[at], form.text).toEqual(redacted(form));
    const last = found.slice(corpus.length).flat().join(" ");
    expect(last).not.toMatch(/hunter2|abcdefghij|ghp_|eyJ|AKIA|u:p@|=abc|token=5/);
  });

  it("S30 Y26 stores nothing of the corpus of secrets, and harmless lines as they are", () =>
    tests("test_secrets"));
});

function redacted({ where, text }: Form): string[] {
  if (where === "command") return redactArgs(wordsOf(text));
  if (where === "patch") return [redactPatch(text).text];
  const redactor = new LineRedactor({});
  return text.split("\n").map((line) => redactor.redact(line));
}
