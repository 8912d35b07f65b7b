import { describe, expect, it } from "vitest";
import { kindFinding } from "./check-data.ts";
import { checkCompileCache, checkNode, checkUser } from "./check-program.ts";
import { checkClock } from "./check-server.ts";

describe("checks", () => {
  it.each([
    ["20.19.0", "bad"],
    ["23.11.1", "bad"],
    ["24.14.0", "bad"],
    ["24.14.1", "ok"],
    ["25.1.0", "ok"],
  ])("T14 judges Node %s", (version, level) => expect(checkNode(version)).toMatchObject({ level }));

  it.each([
    [0x6969, "bad", "NFS"],
    [0xff534d42, "bad", "SMB"],
    [0x65735546, "bad", "FUSE"],
    [0x01021994, "warn", "tmpfs"],
    [0x794c7630, "warn", "container"],
    [0xef53, "ok", "local"],
  ])("T14 judges the file system %d", (type, level, word) => {
    const found = kindFinding("/data", type);
    expect(found.level).toBe(level);
    expect(found.text).toContain(word);
  });

  it("T14 reports an unknown clock without a header", () => {
    expect(checkClock(null, 0).level).toBe("ok");
    expect(checkClock("Thu, 01 Jan 1970 00:00:10 GMT", 10_900).level).toBe("ok");
    expect(checkClock("Thu, 01 Jan 1970 00:00:10 GMT", 17_000)).toMatchObject({ level: "warn" });
  });

  it("T256 finds a start by sudo, and nothing wrong with root or another user", () => {
    const env = { SUDO_UID: "1000", SUDO_USER: "ada" };
    expect(checkUser(env, 0)).toMatchObject([{ level: "warn", fix: "run it without sudo" }]);
    expect(checkUser(env, 1000)).toEqual([]);
    expect(checkUser({}, 0)).toEqual([]);
    expect(checkUser({ SUDO_UID: "0", SUDO_USER: "root" }, 0)).toEqual([]);
  });

  it("T14 says that a cache cannot be kept", () => {
    expect(checkCompileCache("/x").level).toBe("ok");
  });
});
