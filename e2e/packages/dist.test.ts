import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { buildPackages } from "../../tools/package/build-packages.ts";
import { DIST, makeOutside, VERSION } from "./installed.ts";

describe("the packages", () => {
  it("T209 are the same when they are built again, and have the version of package.json", async () => {
    const again = join(makeOutside(), "dist");
    await buildPackages(again);
    const names = readdirSync(again).toSorted();
    expect(names).toEqual([
      `cairn-sdk-${VERSION}.tgz`,
      `cairn-tracker-${VERSION}.tgz`,
      `cairn_tracker-${VERSION}-py3-none-any.whl`,
      `cairn_tracker_server-${VERSION}-py3-none-any.whl`,
    ]);
    expect(readdirSync(DIST).toSorted()).toEqual(names);
    for (const name of names) {
      expect(readFileSync(join(again, name)).equals(readFileSync(join(DIST, name))), name).toBe(true);
    }
  });
});
