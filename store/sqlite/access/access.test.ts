import { hash } from "node:crypto";
import { mkdir, mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { newToken } from "#base/ids.ts";
import { accessStoreContract } from "../../contract/access-store/access-store.ts";
import { ADMIN, here, openAccess } from "#store/contract/access-under-test.ts";
import { openIn, openInMemory, openOnDisk } from "../testing/under-test.ts";

accessStoreContract("sqlite on disk", () => openOnDisk(), { restores: true });
accessStoreContract("sqlite in memory", openInMemory, { restores: false });

describe("the admin token of the first version", () => {
  it("A13 becomes a token of the user admin, an administrator of the root", async () => {
    const directory = await mkdtemp(join(tmpdir(), "cairn-store-"));
    const data = join(directory, "data");
    const secret = newToken("cairn_");
    await mkdir(data);
    const db = new DatabaseSync(join(data, "cairn.db"));
    db.exec(await readFile(new URL("../file/migrations/0001-initial.sql", import.meta.url), "utf8"));
    db.exec("PRAGMA user_version = 1");
    db.prepare("INSERT INTO setting VALUES ('admin-token-sha256', ?), ('other', 'x')").run(
      hash("sha256", secret, "hex"),
    );
    db.close();
    const under = await openIn(directory, data);
    const { access } = await openAccess(under);
    expect(await access.bootstrap()).toBeUndefined();
    const { principal, rights } = here(access.identify(secret));
    expect(principal).toEqual({ kind: "user", name: "admin" });
    expect(rights.may("administer", { namespace: "" })).toBe(true);
    expect(access.listTokens(ADMIN, "admin")).toMatchObject([{ name: "first", expiresUs: undefined }]);
    expect(await under.engine.getSetting("admin-token-sha256")).toBeUndefined();
    expect(await under.engine.getSetting("other")).toBe("x");
    await under.discard();
  });
});
