import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { START } from "../testing/start-cairn.ts";

const home = mkdtempSync(join(tmpdir(), "cairn-zsh-"));
afterAll(() => rmSync(home, { recursive: true }));

it("T15 is a script that zsh can read", async () => {
  const script = 'autoload -U compinit; compinit -u; source <("$0" "$1" completion zsh)';
  const env = { PATH: process.env["PATH"], HOME: home };
  const ended = await promisify(execFile)("zsh", ["-fc", script, process.execPath, START], { env });
  expect(ended).toMatchObject({ stderr: "" });
});
