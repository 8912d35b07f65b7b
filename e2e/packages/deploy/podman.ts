import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "vitest";

import { makeNodeRoot } from "./node-image.ts";

/** Of its own, so that it works where this user may not raise limits, and where systemd is not running. */
const SETTINGS = `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`;
const COMMAND_MS_MAX = 120_000;

export interface Ran {
  code: number | null;
  output: string;
}

/** Podman with images, containers and volumes in a folder of its own. */
export class Podman {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "containers.conf"), SETTINGS);
  }

  async run(...args: readonly string[]): Promise<Ran> {
    const child = spawn("podman", [...this.#where(), ...args], {
      env: { ...process.env, CONTAINERS_CONF: join(this.#folder, "containers.conf") },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: COMMAND_MS_MAX,
    });
    const texts = Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = (await once(child, "close")) as [number | null];
    return { code, output: (await texts).join("") };
  }

  /** As `run`, and fails unless podman ends with 0. Returns standard output and standard error. */
  async must(...args: readonly string[]): Promise<string> {
    const { code, output } = await this.run(...args);
    expect(code, `podman ${args.join(" ")}\n${output}`).toBe(0);
    return output;
  }

  /** Makes an image with node, npm and a shell from the programs of this machine. */
  async makeNodeImage(name: string): Promise<void> {
    const [root, tar] = [join(this.#folder, "root"), join(this.#folder, "root.tar")];
    makeNodeRoot(root);
    execFileSync("tar", ["-C", root, "-cf", tar, "."]);
    await this.must("import", tar, name);
  }

  /** Ends and removes everything, so that the folder can be removed. */
  async close(): Promise<void> {
    await this.run("system", "reset", "--force");
  }

  #where(): string[] {
    const folders = ["storage", "run"].map((name) => join(this.#folder, name));
    return ["--root", folders[0]!, "--runroot", folders[1]!];
  }
}
