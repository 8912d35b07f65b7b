import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { findLocalServer } from "./local-secret.ts";
import { findServer } from "./login.ts";

const SECRET = `cairn_local_${"s".repeat(37)}`;

/** A home with the file of a server on a port. */
function home(
  port: number,
  entry: unknown,
  mode = 0o600,
): { env: Record<string, string>; path: string; folder: string } {
  const env = { HOME: mkdtempSync(join(tmpdir(), "cairn-local-")) };
  onTestFinished(() => rmSync(env.HOME, { recursive: true }));
  const folder = join(env.HOME, ".config", "cairn");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `local-${port}.json`);
  writeFileSync(path, typeof entry === "string" ? entry : JSON.stringify(entry));
  chmodSync(path, mode);
  return { env, path, folder };
}

const V4 = { address: "127.0.0.1", secret: SECRET, pid: 1 };
const V6 = { address: "::1", secret: SECRET, pid: 1 };

describe("the local secret", () => {
  it("A30 is sent only to the address the server has bound", async () => {
    const { folder } = home(4700, V4);
    const found = async (url: string) => findLocalServer(url, folder);
    expect(await found("http://127.0.0.1:4700")).toEqual({ url: "http://127.0.0.1:4700", token: SECRET });
    expect(await found("http://127.0.0.1:4700/base")).toEqual({
      url: "http://127.0.0.1:4700/base",
      token: SECRET,
    });
    expect(await found("http://localhost:4700")).toEqual({ url: "http://127.0.0.1:4700", token: SECRET });
    // A certificate identifies the server.
    expect(await found("https://localhost:4700")).toEqual({ url: "https://localhost:4700", token: SECRET });
    for (const other of [
      "127.0.0.2:4700",
      "[::1]:4700",
      "127.0.0.1:4701",
      "127.0.0.1",
      "localhost.evil.example:4700",
      "cairn.example.org:4700",
      "10.0.0.1:4700",
    ]) {
      expect(await found(`http://${other}`), other).toBeUndefined();
    }
    const six = home(80, V6);
    expect(await findLocalServer("http://localhost", six.folder)).toEqual({
      url: "http://[::1]",
      token: SECRET,
    });
    expect(await findLocalServer("http://127.0.0.1", six.folder)).toBeUndefined();
  });

  it("A30 comes after every other credential", async () => {
    const { env, folder } = home(4700, V4);
    expect(await findServer({}, env)).toEqual({ url: "http://127.0.0.1:4700", by: "default", token: SECRET });
    expect((await findServer({ token: "t" }, env)).token).toBe("t");
    expect((await findServer({}, { ...env, CAIRN_TOKEN: "e" })).token).toBe("e");
    expect((await findServer({ server: "http://box.example:4700" }, env)).token).toBeUndefined();
    const logins = { servers: { "http://127.0.0.1:4700": { token: "kept" } } };
    writeFileSync(join(folder, "login.json"), JSON.stringify(logins), { mode: 0o600 });
    expect((await findServer({}, env)).token).toBe("kept");
  });

  it("A30 a file that others may read or that another user owns is refused by name; an incomplete one is ignored", async () => {
    for (const mode of [0o644, 0o640, 0o604, 0o660]) {
      const { env, path } = home(4700, V4, mode);
      await expect(findServer({}, env), mode.toString(8)).rejects.toThrow(
        `cannot use "${path}": others may read it`,
      );
    }
    const { env, path } = home(4700, V4);
    chownSync(path, 54_321, 54_321);
    await expect(findServer({}, env)).rejects.toThrow(`cannot use "${path}": another user owns it`);
    for (const text of [
      "",
      "{",
      "{}",
      JSON.stringify({ ...V4, secret: "cairn_other" }),
      JSON.stringify({ ...V4, address: 7 }),
    ]) {
      expect((await findServer({}, home(4700, text).env)).token, text).toBeUndefined();
    }
  });
});
