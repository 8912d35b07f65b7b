import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

import packageJson from "../../package.json" with { type: "json" };
import { buildWeb } from "../../web/build.ts";
import { writeClientWheel } from "./client-wheel.ts";
import { sdkFiles } from "./sdk-files.ts";
import { writeServerWheel } from "./server-wheel.ts";
import { writeTarball } from "./tarball.ts";
import { trackerFiles } from "./tracker-files.ts";

/** Builds everything that people install into `folder`, which is emptied first. The same sources give the same bytes. */
export async function buildPackages(
  folder: string,
  onBuilt: (path: string) => void = () => undefined,
): Promise<void> {
  const { version } = packageJson;
  await buildWeb();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const compiling = sdkFiles();
  // Awaited below; until then, what fails first is reported.
  compiling.catch(() => undefined);
  const tracker = await trackerFiles();
  onBuilt(await writeTarball(join(folder, `cairn-tracker-${version}.tgz`), tracker));
  onBuilt(await writeServerWheel(tracker, folder));
  onBuilt(await writeClientWheel(folder));
  onBuilt(await writeTarball(join(folder, `cairn-sdk-${version}.tgz`), await compiling));
}
