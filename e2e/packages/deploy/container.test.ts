/** The image of deploy/Containerfile: built by podman on a base made of this machine's programs, and run. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { makeCertificate } from "#server/testing/certificate.ts";
import { ROOT } from "../../../tools/sources.ts";
import { DIST } from "../installed.ts";
import { Podman } from "./podman.ts";

const BASE = "localhost/node-of-this-machine";
/** As deploy/kubernetes names it. */
const IMAGE = "localhost/cairn:latest";
const USER = "10001";
/** What a careful operator gives: nothing may be written but the volume and /tmp. No network but the loopback. */
const HARDENED =
  "--network none --read-only --read-only-tmpfs=false --tmpfs /tmp --cap-drop all --security-opt no-new-privileges --no-healthcheck".split(
    " ",
  );

let folder: string;
let podman: Podman;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cairn-containers-"));
  podman = new Podman(folder);
  await podman.makeNodeImage(BASE);
  const file = join(ROOT, "deploy", "Containerfile");
  const build = ["build", "--format", "docker", "--network", "none"];
  await podman.must(...build, "--build-arg", `NODE_IMAGE=${BASE}`, "--file", file, "--tag", IMAGE, DIST);
});

afterAll(async () => {
  await podman.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(name: string, ...options: readonly string[]): Promise<void> {
  await podman.must("run", "--detach", "--name", name, ...HARDENED, ...options, IMAGE);
  await expectHealthy(name);
}

/** Runs the health check of the image in a container. */
async function checkHealth(name: string, ...options: readonly string[]): Promise<number | null> {
  const check = await podman.must("image", "inspect", IMAGE, "--format", "{{json .Config.Healthcheck.Test}}");
  const [how, ...command] = JSON.parse(check) as string[];
  expect(how).toBe("CMD");
  return (await podman.run("exec", ...options, name, ...command)).code;
}

async function expectHealthy(name: string): Promise<void> {
  await expect.poll(() => checkHealth(name), { interval: 200 }).toBe(0);
}

/** Evaluates an expression in a container with the Node and the user of the image. */
async function evaluate(name: string, expression: string): Promise<unknown> {
  const program = `Promise.resolve(${expression}).then((value) => console.log(JSON.stringify(value)))`;
  return JSON.parse(await podman.must("exec", name, "node", "-e", program));
}

async function call(name: string, method: string, token: string, message: object): Promise<unknown> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const request = JSON.stringify({ method: "POST", headers, body: JSON.stringify(message) });
  const url = `http://127.0.0.1:4700/cairn.v1.${method}`;
  return evaluate(name, `fetch("${url}", ${request}).then((answer) => answer.json())`);
}

async function readToken(name: string): Promise<string> {
  const token = /cairn_[\w-]+/.exec(await podman.must("logs", name))?.[0];
  expect(token).toBeDefined();
  return token!;
}

/** The rights of the server, and whether it can change what is not data. */
const RIGHTS = `(() => {
  const fs = require("node:fs");
  const tryTo = (write) => { try { write(); return "done"; } catch ({ code }) { return code; } };
  const status = fs.readFileSync("/proc/1/status", "utf8");
  return {
    ids: status.match(/^(?:Uid|Gid):.*$/gm).map((line) => line.split("\\t").slice(1)),
    capabilities: /^CapEff:\\s*(\\w+)$/m.exec(status)[1],
    newPrivileges: /^NoNewPrivs:\\s*(\\d)$/m.exec(status)[1],
    server: fs.readFileSync("/proc/1/cmdline", "utf8").includes("server/start.js"),
    writes: ["/", "/opt/cairn/bin/", "/tmp/", "/data/"].map((path) => tryTo(() => fs.writeFileSync(path + "probe", ""))),
  };
})()`;
const NO_RIGHTS = {
  ids: Array.from({ length: 2 }, () => Array.from({ length: 4 }, () => USER)),
  capabilities: "0".repeat(16),
  newPrivileges: "1",
  server: true,
  writes: ["EROFS", "EROFS", "done", "done"],
};

describe("the image of deploy/Containerfile", () => {
  it("B230 serves as a user without rights, and writes only to its volume and /tmp", async () => {
    await start("rights");
    expect(await evaluate("rights", RIGHTS)).toEqual(NO_RIGHTS);
    expect(await evaluate("rights", `fetch("http://127.0.0.1:4700/").then((page) => page.text())`)).toContain(
      "<title>Cairn</title>",
    );
    expect(await podman.must("exec", "rights", "cairn", "--version")).toContain("cairn ");
    await podman.must("rm", "--force", "--volumes", "rights");
  });

  it("B231 is healthy while its server is ready, with and without TLS", async () => {
    await start("plain");
    expect(await checkHealth("plain", "--env", "CAIRN_PORT=4701")).toBe(1);
    const { cert, key } = makeCertificate();
    const keys = join(folder, "keys");
    mkdirSync(keys);
    writeFileSync(join(keys, "cert.pem"), cert);
    writeFileSync(join(keys, "key.pem"), key);
    chownSync(join(keys, "key.pem"), Number(USER), Number(USER));
    chmodSync(join(keys, "key.pem"), 0o400);
    const tls = ["--env", "CAIRN_TLS_CERT=/keys/cert.pem", "--env", "CAIRN_TLS_KEY=/keys/key.pem"];
    await start("tls", "--volume", `${keys}:/keys:ro`, ...tls);
    await podman.must("rm", "--force", "--volumes", "plain", "tls");
  });

  it("B232 finishes at SIGTERM with exit code 0, and continues with its volume", async () => {
    await start("first", "--volume", "kept:/data");
    const token = await readToken("first");
    const run = { namespace: "demo", name: "kept" };
    expect(await call("first", "RunService/CreateRun", token, run)).toMatchObject({ created: true });
    await podman.must("stop", "--time", "60", "first");
    expect((await podman.must("wait", "first")).trim()).toBe("0");
    expect(await podman.must("logs", "first")).toContain('"signal":"SIGTERM"');

    await start("second", "--volume", "kept:/data");
    expect(await call("second", "RunService/SearchRuns", token, { query: "" })).toMatchObject({
      runs: [run],
    });
    // The first start printed the token, and only that.
    expect(await podman.must("logs", "second")).not.toContain("cairn_");
    await podman.must("rm", "--force", "first", "second");
  });

  it("B233 runs in the pod of deploy/kubernetes, on a volume of its claim", async () => {
    const manifests = ["volume-claim", "deployment"].map((name) =>
      readFileSync(join(ROOT, "deploy", "kubernetes", `${name}.yaml`), "utf8"),
    );
    const file = join(folder, "pod.yaml");
    writeFileSync(file, forPodman(manifests.join("---\n")));
    await podman.must("kube", "play", "--network", "none", file);
    const name = "cairn-pod-0-cairn";
    await expectHealthy(name);
    expect(await evaluate(name, RIGHTS)).toEqual(NO_RIGHTS);
    const statuses = ["cairn.default.svc", "elsewhere"].map((host) => ask(host, "/"));
    expect(await evaluate(name, `Promise.all([${statuses.join(",")}])`)).toEqual([200, 403]);
    const data = `require("node:fs").statSync("/data/cairn").mode & 0o777`;
    expect(await evaluate(name, data)).toBe(0o700);
    await podman.must("kube", "down", file);
    expect(await podman.must("volume", "ls", "--quiet")).toContain("cairn-data");
  });
});

/** An expression: the status of an answer to a request with this host name. */
function ask(host: string, path: string): string {
  const options = JSON.stringify({ port: 4700, path, headers: { host } });
  return `new Promise((done) => require("node:http").get(${options}, (answer) => done(answer.resume().statusCode)))`;
}

/** Podman publishes ports on the machine, has no namespaces, and does not expand variables in values. */
function forPodman(manifests: string): string {
  const ports = /^ +ports:\n.*name: http\n.*containerPort: 4700\n/m;
  const namespace = /^ +- name: NAMESPACE\n.*valueFrom:\n.*fieldRef:\n.*fieldPath: metadata.namespace\n/m;
  expect(manifests).toMatch(ports);
  expect(manifests).toMatch(namespace);
  return manifests.replace(ports, "").replace(namespace, "").replaceAll("$(NAMESPACE)", "default");
}
