import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { CairnError } from "#lang/errors.ts";
import { fileKeyOf, flagOf, SETTING_ROWS, variableOf } from "#server/settings/setting-table.ts";
import { isInClear, readCommand, readSettings } from "#server/settings/settings.ts";

const home = mkdtempSync(join(tmpdir(), "cairn-settings-"));
afterAll(() => rmSync(home, { recursive: true }));
const env = { HOME: home };

function file(name: string, text: string): string {
  const path = join(home, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function refusal(argv: string[], more: Record<string, string> = {}): CairnError {
  try {
    readSettings(argv, { ...env, ...more });
  } catch (error) {
    expect(error).toBeInstanceOf(CairnError);
    expect((error as CairnError).code).toBe("invalid");
    return error as CairnError;
  }
  throw new Error("it was accepted");
}

test("the defaults are for one person on one machine", () => {
  expect(readSettings([], env)).toEqual({
    host: "127.0.0.1",
    port: 4700,
    data: join(home, ".cairn"),
    allowedHosts: [],
    auth: false,
    insecure: false,
    localSecret: false,
    logLevel: "info",
    store: "sqlite",
    blobs: "fs",
    search: "columns",
    artifactSizeMax: 100 * 2 ** 30,
    connectionsMax: 10_000,
    connectionsPerAddressMax: 2_000,
    quotaRequestsPerSecond: 20_000,
    quotaBytesPerSecond: 1 << 30,
    quotaStreams: 2_000,
  });
});

test("settings are plain data", () => {
  const settings = readSettings(["--tls-cert", "a", "--tls-key", "b"], env);
  expect(structuredClone(settings)).toEqual(settings);
});

test.each([
  [[], false],
  [["--host", "::1"], false],
  [["--host", "localhost", "--public-url", "http://[::1]:8080"], false],
  [["--host", "0.0.0.0"], true],
  [["--host", "::", "--auth"], true],
  [["--host", "192.0.2.1", "--insecure"], true],
  [["--host", "0.0.0.0", "--public-url", "http://cairn.example.org"], true],
  // A proxy on this machine that has no TLS either.
  [["--public-url", "http://cairn.example.org"], true],
  [["--public-url", "https://cairn.example.org"], false],
  [["--host", "0.0.0.0", "--public-url", "HTTPS://cairn.example.org"], false],
  [["--host", "0.0.0.0", "--tls-cert", "a", "--tls-key", "b"], false],
])("B10 S15: %j is detected as unencrypted: %j", (argv, inClear) => {
  expect(isInClear(readSettings(argv, env))).toBe(inClear);
});

test("memory: keeps blobs in memory too", () => {
  expect(readSettings(["--data", "memory:"], env)).toMatchObject({ data: "memory:", blobs: "memory" });
  expect(refusal(["--data=memory:", "--blobs=fs"]).message).toContain('--blobs with "fs"');
});

test("flags override variables, variables the file, the file the defaults", () => {
  const config = file("order.toml", 'port = 1\nhost = "::1"\nlog_level = "warn"\n');
  const argv = ["--config", config, "--port=3"];
  const variables = { ...env, CAIRN_PORT: "2", CAIRN_HOST: "::" };
  expect(readSettings(argv, variables)).toMatchObject({ port: 3, host: "::", logLevel: "warn" });
  expect(readSettings(["--config", config], variables).port).toBe(2);
  expect(readSettings([], { ...env, CAIRN_CONFIG: config }).port).toBe(1);
});

test("the file in the data folder is found, and may not move it", () => {
  file("data/cairn.toml", "port = 9\n");
  expect(readSettings(["--data", join(home, "data")], env).port).toBe(9);
  expect(readSettings(["--data", "~/data"], env).port).toBe(9);
  file("moved/cairn.toml", 'data = "/elsewhere"\n');
  expect(refusal(["--data", join(home, "moved")]).message).toContain("already in the data folder");
  const config = file("named.toml", 'data = "~/there"\n');
  expect(readSettings(["--config", config], env).data).toBe(join(home, "there"));
});

test("every setting has a flag, a variable, a key and a line in the help, and none collide", () => {
  const command = readCommand(["--help"], env);
  const help = command.do === "print" ? command.text : "";
  for (const name of [flagOf, variableOf, fileKeyOf]) {
    const names = SETTING_ROWS.map(name);
    expect(new Set(names).size).toBe(names.length);
    for (const one of names) expect(help).toContain(one);
  }
  expect(help).toContain("Examples:");
  expect(flagOf(SETTING_ROWS.find((row) => row.key === "allowedHosts")!)).toBe("--allow-host");
});

test("lists grow by repeating and by commas", () => {
  expect(readSettings(["--allow-host", "a", "--allow-host", "b,c"], env).allowedHosts).toEqual([
    "a",
    "b",
    "c",
  ]);
  expect(readSettings([], { ...env, CAIRN_ALLOW_HOST: "x, y" }).allowedHosts).toEqual(["x", "y"]);
  const config = file("list.toml", 'allowed_hosts = ["one", "two"]\n');
  expect(readSettings(["--config", config], env).allowedHosts).toEqual(["one", "two"]);
});

test("switches need no value but accept one", () => {
  expect(readSettings(["--insecure", "--port", "1"], env)).toMatchObject({ insecure: true, port: 1 });
  expect(readSettings(["--insecure=false"], { ...env, CAIRN_INSECURE: "1" }).insecure).toBe(false);
  expect(refusal(["--insecure=maybe"]).message).toContain("expected true or false");
});

test.each([
  [["--port", "abc"], {}, 'cannot use --port with "abc": expected a port from 0 to 65535'],
  [["--port", "70000"], {}, 'cannot use --port with "70000": expected a port from 0 to 65535'],
  [["--port", "-1"], {}, 'cannot use --port with "-1": expected a port from 0 to 65535'],
  [[], { CAIRN_PORT: "1.5" }, 'cannot use CAIRN_PORT with "1.5": expected a port from 0 to 65535'],
  [
    ["--host", "a b"],
    {},
    'cannot use --host with "a b": expected a host name or an IP address, without port',
  ],
  [
    ["--log-level", "loud"],
    {},
    'cannot use --log-level with "loud": expected one of debug, info, warn, error, silent',
  ],
  [["--store", "mongo"], {}, 'cannot use --store with "mongo": expected sqlite'],
  [["--public-url", "ftp://x"], {}, 'cannot use --public-url with "ftp://x": expected an address such as'],
  [["--public-url", "https://u:p@x"], {}, "expected an address such as"],
  [["--connections-max", "0"], {}, "expected a whole number of at least 1"],
  [["--tls-cert", "c.pem"], {}, "cannot use --tls-cert: TLS needs a certificate and its key"],
  [[], { CAIRN_TLS_KEY: "k.pem" }, "cannot use CAIRN_TLS_KEY: TLS needs a certificate and its key"],
  [["--auth", "--insecure"], {}, "cannot use --insecure: --auth requires a credential of everybody"],
  [
    ["--insecure"],
    { CAIRN_AUTH: "1" },
    "cannot use --insecure: CAIRN_AUTH requires a credential of everybody",
  ],
  [["--port"], {}, "cannot use --port: its value is missing"],
  [["--port", "--host", "x"], {}, "cannot use --port: its value is missing"],
  [["serve"], {}, 'cannot use argument "serve": only flags are taken'],
  [["--config", "/nowhere/x.toml"], {}, 'cannot read settings file "/nowhere/x.toml"'],
] as [string[], Record<string, string>, string][])("%j %j: %s", (argv, more, message) => {
  expect(refusal(argv, more).message).toContain(message);
});

test.each([
  ["--prot", "Did you mean --port?"],
  ["--public-ulr", "Did you mean --public-url?"],
  ["--hots", "Did you mean --host?"],
  ["--confg", "Did you mean --config?"],
  ["--zzzzzzzz", "See --help for all settings."],
])("unknown flag %s: %s", (flag, hint) => {
  const error = refusal([flag, "1"]);
  expect(error.message).toBe(`cannot use flag "${flag}": unknown flag`);
  expect(error.hint).toBe(hint);
});

test("errors in the file are named with file, key, value and position", () => {
  const unknown = file("unknown.toml", "prot = 1\n");
  expect(refusal(["--config", unknown])).toMatchObject({
    message: `cannot use key "prot" in "${unknown}": unknown setting`,
    hint: "Did you mean port?",
  });
  const wrong = file("wrong.toml", 'port = "4700"\n');
  expect(refusal(["--config", wrong]).message).toBe(
    `cannot use key "port" in "${wrong}" with "4700": expected a port from 0 to 65535`,
  );
  const broken = file("broken.toml", 'port = 1\nhost = "::1\n');
  expect(refusal(["--config", broken]).message).toContain(`"${broken}" at line 2, column`);
});

test("S13: __proto__ in the file is an unknown key like any other", () => {
  const config = file("proto.toml", "[__proto__]\nport = 1\n");
  expect(refusal(["--config", config]).message).toContain("__proto__");
  expect(({} as { port?: number }).port).toBeUndefined();
});

test("the variable of Kubernetes for a service named cairn is not used as a port", () => {
  expect(readSettings([], { ...env, CAIRN_PORT: "tcp://10.0.0.1:4700" }).port).toBe(4700);
});

test("an empty variable counts as unset", () => {
  expect(readSettings([], { ...env, CAIRN_HOST: "", CAIRN_CONFIG: "" }).host).toBe("127.0.0.1");
});

test("--version and --help print, with any other arguments", () => {
  expect(readCommand(["--version"], env)).toMatchObject({ do: "print" });
  expect(readCommand(["--port", "x", "--help"], env)).toMatchObject({ do: "print" });
  expect(readCommand([], env)).toMatchObject({ do: "serve", settings: { port: 4700 } });
});

test("the entry shows a hint for an old Node", () => {
  const start = fileURLToPath(new URL("../start.js", import.meta.url));
  const old = "Object.defineProperty(process.versions,'node',{value:'20.11.0'})";
  const preload = file("old-node.mjs", old);
  const run = (): unknown => execFileSync(process.execPath, ["--import", preload, start], { stdio: "pipe" });
  expect(run).toThrow(
    /needs Node 24\.14\.1 or newer and is running on Node 20\.11\.0[^]*npm ci[^]*--omit=optional/,
  );
});
