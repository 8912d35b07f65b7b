/**
 * Walks every method and every route, as the server itself lists them, with every kind of caller that must be refused,
 * and searches every byte of every answer for secrets.
 */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Permission } from "#core/types/permission.ts";
import type { Server } from "../serve.ts";
import type { InstallFile, InstallFiles } from "../web/install-files.ts";
import type { WebFiles } from "../web/web-files.ts";
import { makeFolder, startServer } from "../testing/servers.ts";
import { WalkClient, type WalkAnswer, type WalkProtocol } from "../testing/walk-call.ts";
import type { MethodRow, RouteRow } from "../testing/walk-row.ts";
import { METHOD_ROWS, ROUTE_ROWS } from "../testing/walk-rows.ts";
import {
  forwardClock,
  plantWorld,
  type Marker,
  type WalkCaller,
  type WalkTarget,
  type World,
} from "../testing/walk-world.ts";

const PROTOCOLS: readonly WalkProtocol[] = ["grpc", "json"];
const ROWS: readonly (MethodRow | RouteRow)[] = [...METHOD_ROWS, ...ROUTE_ROWS];
const NOT_KNOWN: readonly WalkCaller[] = ["guesser", "expired", "revoked", "disabled", "deleted"];
const REFUSED = ["NotFound", "PermissionDenied"];

let folder: string;
/** Pages as if they were built. */
const WHEEL: InstallFile = {
  name: "cairn_tracker-0.1.0-py3-none-any.whl",
  bytes: Buffer.from("wheel"),
  sha256: "0".repeat(64),
};
const PACKAGES: InstallFiles = { list: () => [WHEEL], file: () => WHEEL };
const PAGES: WebFiles = {
  page: () => Buffer.from("<!doctype html>"),
  asset: (name) =>
    name === "app.js"
      ? { contentType: "text/javascript", bytes: Buffer.from("0"), gzipped: undefined }
      : undefined,
};

let server: Server;
let client: WalkClient;
let world: World;

beforeAll(async () => {
  folder = makeFolder();
  const clock = forwardClock();
  server = await startServer(["--auth", "--data", folder], { web: PAGES, install: PACKAGES, clock });
  client = new WalkClient(server.listening.url);
  world = await plantWorld(client, server.newToken!, clock);
});

afterAll(async () => {
  client.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

function permissionOf({ name }: { name: string }): Permission {
  const route = server.router.routes.find(({ method, path }) => `${method} ${path}` === name);
  return route?.permission ?? server.wire.permissions.get(name)!;
}

interface Disclosure {
  /** For people who read a failure. */
  what: string;
  request: string;
  answer: WalkAnswer;
}

/** Calls the row as a caller, over every protocol it has. */
async function* calls(
  row: MethodRow | RouteRow,
  caller: WalkCaller,
  target: WalkTarget = row.on?.(world) ?? world.open,
): AsyncGenerator<Disclosure> {
  const headers = world.headers[caller];
  if ("path" in row) {
    const path = row.path(world, target);
    const method = row.name.split(" ")[0]!;
    const body = typeof row.body === "function" ? row.body(world) : row.body;
    const answer = await client.route({ method, path, headers: { ...row.headers, ...headers }, body });
    yield { what: `${row.name} as ${caller}`, request: decodeURIComponent(path) + (body ?? ""), answer };
    return;
  }
  const message = row.message(world, target);
  for (const protocol of PROTOCOLS) {
    const { name, endless = false } = row;
    const answer = await client.call({ protocol, name, message, headers, endless });
    yield { what: `${name} over ${protocol} as ${caller}`, request: JSON.stringify(message), answer };
  }
}

/** None of the marked texts, except those that the caller sent itself. */
function expectNoTrace({ what, request, answer }: Disclosure, of: readonly Marker["of"][]): void {
  for (const marker of world.markers) {
    if (!of.includes(marker.of) || request.includes(marker.text)) continue;
    if (answer.text.includes(marker.text)) throw new Error(`${what} shows ${marker.text}: ${answer.text}`);
  }
}

const EVERYTHING: readonly Marker["of"][] = ["namespace", "run", "artifact", "principal"];

/** All that is in the namespace, as the admin sees it. */
async function everything(): Promise<string> {
  const ask = async (name: string, message: Parameters<typeof client.call>[0]["message"]) => {
    const { admin } = world.headers;
    const answer = await client.call({ protocol: "json", name: `cairn.v1.${name}`, message, headers: admin });
    expect(answer.code, name).toBe("OK");
    // Positions of reads are sealed again for every answer.
    return JSON.stringify(answer.json, (key, value: unknown) => (key === "position" ? undefined : value));
  };
  const parts = [
    await ask("RunService/SearchRuns", { columns: ["params", "tags", "notes", "aliases", "provenance"] }),
    await ask("RunService/SearchRuns", { trashed: true }),
    await ask("NamespaceService/ListNamespaces", {}),
    await ask("AccessService/ListPrincipals", {}),
    await ask("AccessService/GetScope", { scope: { namespace: world.open.namespace } }),
  ];
  for (const { runId } of [world.open, world.closedRun, world.trashed]) {
    parts.push(await ask("SystemService/VerifyRun", { run: { id: runId } }));
    parts.push(await ask("AccessService/GetScope", { scope: { runId } }));
    parts.push(await ask("LogService/ReadLog", { run: { id: runId } }));
    parts.push(await ask("ArtifactService/ListArtifacts", { run: { id: runId } }));
    parts.push(await ask("LineageService/ListSources", { run: { id: runId } }));
  }
  return parts.join("\n");
}

describe("S1: the walk", () => {
  it("S1 has a row for every method and every route, and no others", () => {
    const methods = [...server.wire.permissions.keys()];
    const routes = server.router.routes.map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(METHOD_ROWS.map(({ name }) => name))].sort()).toEqual(methods.sort());
    expect([...new Set(ROUTE_ROWS.map(({ name }) => name))].sort()).toEqual(routes.sort());
    for (const row of ROWS) {
      expect(row.about === "public", row.name).toBe(permissionOf(row) === "public");
      expect(row.about === "public", row.name).toBe(row.why !== undefined);
    }
  });

  it("S1 refuses callers without a credential", async () => {
    for (const row of ROWS) {
      for await (const called of calls(row, "nobody")) {
        if (row.about === "public") expect(called.answer.code, called.what).not.toBe("PermissionDenied");
        else expect(called.answer.code, called.what).toBe("Unauthenticated");
        expectNoTrace(called, EVERYTHING);
      }
    }
  });

  it.each(NOT_KNOWN)("S1 refuses an invalid token: %s", async (caller) => {
    for (const row of ROWS) {
      for await (const called of calls(row, caller)) {
        expect(called.answer.code, called.what).toBe("Unauthenticated");
        expectNoTrace(called, EVERYTHING);
      }
    }
  });

  it("S1 refuses writes of a reader", async () => {
    const before = await everything();
    for (const row of ROWS) {
      const permission = permissionOf(row);
      if (permission === "public" || (permission === "read" && row.about !== "server")) continue;
      for await (const called of calls(row, "reader")) {
        expect(REFUSED, called.what).toContain(called.answer.code);
        if (permission !== "read") expect(called.answer.code, called.what).toBe("PermissionDenied");
        expectNoTrace(called, ["run", "artifact", "principal"]);
      }
    }
    expect(await everything()).toBe(before);
  });

  it.each(["outsider", "narrow"] as const)(
    "S1 shows and allows nothing to a caller of another namespace: %s",
    async (caller) => {
      const before = await everything();
      for (const row of ROWS) {
        if (row.about === "public") continue;
        for await (const called of calls(row, caller)) {
          if (row.about === "list") expect(called.answer.code, called.what).toBe("OK");
          else expect(REFUSED, called.what).toContain(called.answer.code);
          const shown = row.shows ?? [];
          expectNoTrace(
            called,
            EVERYTHING.filter((of) => !shown.includes(of)),
          );
        }
      }
      expect(await everything()).toBe(before);
    },
  );

  it("S1 hides a closed run and a closed artifact from members of the namespace", async () => {
    const before = await everything();
    for (const row of ROWS) {
      const targets = [
        ...(row.about === "run" || row.about === "artifact" ? [world.closedRun] : []),
        ...(row.about === "artifact" ? [world.closedArtifact] : []),
      ];
      for (const target of targets) {
        for await (const called of calls(row, "member", target)) {
          // A scope need not exist to be named: reading it finds no bindings, changing it is refused.
          const scoped = row.about === "artifact" && row.name.includes("AccessService");
          const looks =
            scoped && target.closed === "artifact" && /(?:ExplainAccess|GetScope)$/.test(row.name);
          // Nor is there a version to destroy of a name that does not exist, which is not an error.
          const purges = target.closed === "artifact" && row.name.endsWith("/PurgeArtifacts");
          const expected = looks || purges ? ["OK"] : scoped ? REFUSED : ["NotFound"];
          expect(expected, called.what).toContain(called.answer.code);
          expectNoTrace(called, ["run", "artifact"]);
        }
      }
      // What they may list has neither.
      const reads = permissionOf(row) === "read" && row.about !== "server";
      if (!reads) continue;
      for await (const called of calls(row, "member")) {
        expect(called.answer.code, called.what).toBe("OK");
        expectNoTrace(called, ["run", "artifact"]);
      }
    }
    expect(await everything()).toBe(before);
  });

  it("S1 counts for others only runs they may read", async () => {
    const count = async (caller: WalkCaller, message = {}) => {
      const { json } = await client.call({
        protocol: "json",
        name: "cairn.v1.RunService/SearchRuns",
        message,
        headers: world.headers[caller],
      });
      return Number(json["totalCount"] ?? 0);
    };
    expect(await count("admin")).toBe(3);
    expect(await count("member")).toBe(1);
    expect(await count("reader")).toBe(1);
    expect(await count("outsider")).toBe(1);
    expect(await count("narrow")).toBe(1);
    expect(await count("outsider", { trashed: true })).toBe(0);
    expect(await count("outsider", { namespace: world.open.namespace })).toBe(0);
    const { json } = await client.call({
      protocol: "json",
      name: "cairn.v1.NamespaceService/ListNamespaces",
      message: {},
      headers: world.headers.outsider,
    });
    expect(json["namespaces"]).toMatchObject([
      { path: "top", subtreeRunCount: "1" },
      { path: "top/other", runCount: "1" },
    ]);
  });

  it("S1 shows the lineage of an own run without hidden runs", async () => {
    const run = { id: world.otherRun };
    for (const [method, message] of [
      ["ListSources", { run }],
      ["ListChildren", { run }],
      ["GetLineage", { run }],
    ] as const) {
      for (const caller of ["outsider", "narrow"] as const) {
        for (const protocol of PROTOCOLS) {
          const name = `cairn.v1.LineageService/${method}`;
          const answer = await client.call({ protocol, name, message, headers: world.headers[caller] });
          const called = { what: `${name} as ${caller}`, request: JSON.stringify(message), answer };
          expect(answer.code, called.what).toBe("OK");
          if (protocol === "json") expect(JSON.stringify(answer.json)).toContain('"hidden":true');
          expectNoTrace(called, EVERYTHING);
        }
      }
    }
  });

  it("S1 notifies a watcher of everything only of what it may read", async () => {
    const change = async (run: string) => {
      const { code } = await client.call({
        protocol: "json",
        name: "cairn.v1.RunService/UpdateRun",
        message: { run: { id: run }, tags: { watched: "yes" } },
        headers: world.headers.admin,
      });
      expect(code).toBe("OK");
    };
    const seen = (id: string) => (text: string) => text.includes(id);
    const watch = { name: "cairn.v1.WatchService/Watch", message: { runs: { columns: ["tags", "params"] } } };
    for (const [caller, own, of] of [
      ["outsider", world.otherRun, EVERYTHING],
      ["narrow", world.otherRun, EVERYTHING],
      ["member", world.open.runId, ["run", "artifact"]],
    ] as const) {
      const text = await client.listen({ ...watch, headers: world.headers[caller] }, [
        {
          until: seen("started"),
          act: async () => {
            for (const { runId } of [world.closedRun, world.trashed, world.open]) await change(runId);
            await change(world.otherRun);
          },
        },
        { until: seen(own), act: () => Promise.resolve() },
      ]);
      const answer = { code: "OK", sent: text, text, json: {} };
      expectNoTrace({ what: `Watch as ${caller}`, request: JSON.stringify(watch.message), answer }, of);
    }
  });

  it("S1 answers every row as expected for allowed callers: the rows are correct", async () => {
    const rows = ROWS.toSorted((a, b) => (a.late ?? 0) - (b.late ?? 0));
    for (const row of rows) {
      if (row.spends === true) continue;
      for await (const called of calls(row, "admin")) {
        // What was done once over one protocol need not be possible again over the other.
        const again =
          called.what.includes("over json") &&
          /NotFound|AlreadyExists|FailedPrecondition/.test(called.answer.code);
        if (!again)
          expect(called.answer.code, `${called.what}: ${called.answer.text.slice(0, 600)}`).toBe("OK");
      }
    }
  });
});
