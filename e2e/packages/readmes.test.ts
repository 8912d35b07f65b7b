import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { ROOT } from "../../tools/sources.ts";
import { readCommands } from "./readme.ts";
import {
  expectPages,
  type Where,
  makeOutside,
  mustRun,
  outsideEnv,
  startInstalled,
  tarball,
} from "./installed.ts";

describe("the README of cairn-tracker", () => {
  it("T207 can be followed command by command", async () => {
    const cwd = makeOutside();
    const prefix = join(cwd, "global");
    const project = join(cwd, "project");
    mkdirSync(project);
    const env = outsideEnv(cwd, { npm_config_prefix: prefix, CAIRN_PORT: "0" });
    const where: Where = { cwd: project, env: { ...env, PATH: `${join(prefix, "bin")}:${env["PATH"]}` } };
    const commands = readCommands(join(ROOT, "tools", "package", "tracker", "README.md"));
    expect(commands.length).toBeGreaterThan(8);
    for (const command of commands) {
      if (command === "cairn serve") {
        const { url } = await startInstalled(["cairn", "serve"], where);
        await expectPages(url);
        where.env["CAIRN_SERVER"] = url;
        continue;
      }
      const output = await mustRun(
        ["sh", "-c", command.replace(/(npm install .*)cairn-tracker/, `$1${tarball("cairn-tracker")}`)],
        where,
      );
      if (command.startsWith("cairn ls")) expect(output).toContain("wav2vec");
      if (command.startsWith("cairn show first-try")) expect(output).toContain("0.31");
    }
    expect(readdirSync(join(cwd, "home", ".cairn"))).toContain("cairn.db");
  });
});
