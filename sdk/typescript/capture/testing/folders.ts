import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "cairn-capture-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Puts a shell script in the place of a foreign program; the folder it is in goes to the front of the path. */
export async function fakeProgram(
  name: string,
  script: string,
): Promise<NodeJS.ProcessEnv & { PATH: string }> {
  const folder = await temporaryFolder();
  const file = join(folder, name);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
}
