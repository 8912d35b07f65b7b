/** The units of deploy/systemd, with the package installed as they expect it. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { ROOT } from "../../../tools/sources.ts";
import { mustRun, outsideEnv, startInstalled, tarball } from "../installed.ts";

const UNITS = join(ROOT, "deploy", "systemd");
/** Where the units expect the package; the tests install it elsewhere. */
const PREFIX = "/opt/cairn";
/** The exposure that `systemd-analyze security` computes, from 0 to 100; a unit without settings has 96. */
const EXPOSURE_MAX = 20;

let folder: string;
let prefix: string;
let units: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cairn-units-"));
  prefix = join(folder, "opt");
  units = join(folder, "units");
  mkdirSync(units);
  const env = outsideEnv(folder);
  const install = ["npm", "install", "--global", "--prefix", prefix, "--omit=optional", "--offline"];
  await mustRun([...install, tarball("cairn-tracker")], { cwd: folder, env });
  for (const name of readdirSync(UNITS)) {
    const text = readFileSync(join(UNITS, name), "utf8");
    writeFileSync(join(units, name), text.replaceAll(PREFIX, prefix));
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

function analyze(...args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8", cwd: units });
  return { status, output: stdout + stderr };
}

describe("the units of deploy/systemd", () => {
  it("B235 are valid, and give the server no right that it does not need", () => {
    const names = readdirSync(units).map((name) => join(units, name));
    expect(names).toHaveLength(3);
    expect(analyze("verify", "--man=no", ...names)).toEqual({ status: 0, output: "" });
    const security = analyze(
      "security",
      "--offline=true",
      `--threshold=${EXPOSURE_MAX}`,
      join(units, "cairn.service"),
    );
    expect(security.status, security.output).toBe(0);
  });

  it("B235 restart a server that is not ready, and leave one alone that is, or that cannot be asked", async () => {
    const unit = readFileSync(join(units, "cairn-ready.service"), "utf8");
    const script = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(unit)![1]!.replaceAll("sleep 5", "true");
    const restarts = join(folder, "restarts");
    const programs = join(folder, "programs");
    mkdirSync(programs);
    writeFileSync(
      join(programs, "systemctl"),
      `#!/bin/sh\n[ "$1" = restart ] && echo "$@" >> ${restarts}\nexit 0\n`,
    );
    chmodSync(join(programs, "systemctl"), 0o755);
    let status = 200;
    const server = createServer((_request, response) => response.writeHead(status).end()).listen(
      0,
      "127.0.0.1",
    );
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const check = async (path: string): Promise<string[]> => {
      const child = spawn("/bin/sh", ["-c", script.replaceAll("4700", String(port))], {
        env: { PATH: path },
      });
      await once(child, "exit");
      return existsSync(restarts) ? readFileSync(restarts, "utf8").split("\n").slice(0, -1) : [];
    };
    const path = [programs, process.env["PATH"]].join(delimiter);
    expect(await check(path)).toEqual([]);
    status = 503;
    expect(await check(programs)).toEqual([]);
    expect(await check(path)).toEqual(["restart cairn"]);
  });

  it("B235 start a server that requires a token, and end it with its main process", async () => {
    const unit = readFileSync(join(units, "cairn.service"), "utf8");
    // A second signal would end a server before it has finished.
    expect(unit).toContain("\nKillMode=mixed\n");
    const [command, ...args] = /^ExecStart=(.*)$/m.exec(unit)![1]!.replace("%S", folder).split(" ");
    expect(command).toBe(join(prefix, "bin", "cairn"));
    const { child, url, ended } = await startInstalled([command!, ...args, "--port", "0"], {
      cwd: folder,
      env: { ...outsideEnv(folder), XDG_CACHE_HOME: join(folder, "cache") },
    });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
  });
});
