import { pino } from "pino";
import { fillDemo, type FillOptions } from "#cli/demo/fill-demo.ts";
import { logLive } from "#cli/demo/live.ts";
import { PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { Cairn } from "#sdk/client.ts";
import { serve, type Server } from "#server/serve.ts";
import { readSettings } from "#server/settings/settings.ts";
import { openStores } from "#server/stores.ts";
import { openWebFiles, type WebFiles } from "#server/web/web-files.ts";
import { buildWeb } from "../../web/build.ts";
import { NEWCOMER } from "./access-scenes.ts";
import type { Scene, Visit } from "./scenes.ts";

const SEED = 42;

/** Servers in memory on free ports of this machine, one for each kind of scene. */
export interface Stages {
  visit(scene: Scene): Promise<Visit>;
  close(): Promise<void>;
}

interface StageOptions {
  scale: NonNullable<FillOptions["scale"]>;
  /** How often the runs that are still running log. */
  tickMs?: number;
}

export async function openStages({ scale, tickMs }: StageOptions): Promise<Stages> {
  await buildWeb();
  const web = openWebFiles();
  if (web === undefined) throw new Error("the pages were not built");
  const demo = await startServer(web);
  const empty = await startServer(web);
  const closed = await startServer(web, ["--auth"]);
  const servers = [demo, empty, closed];
  const cairn = new Cairn({ url: demo.listening.url });
  const { ids } = await fillDemo(cairn, { seed: SEED, scale });
  await fillTeam(new Cairn({ url: closed.listening.url, token: closed.newToken }));
  const stop = new AbortController();
  const living = logLive(cairn, { namespace: "demo", seed: SEED, signal: stop.signal, tickMs });

  const serverOf = async ({ stage = "demo" }: Scene): Promise<Server> => {
    if (stage !== "leaving") return { demo, empty, closed }[stage];
    const server = await startServer(web);
    await fillDemo(new Cairn({ url: server.listening.url }), { seed: SEED, scale: "small" });
    return server;
  };
  const idOf = (key: string): string => {
    const id = ids.get(key);
    if (id === undefined) throw new Error(`the demo has no run "${key}"`);
    return id;
  };
  return {
    async visit(scene) {
      const server = await serverOf(scene);
      const path = typeof scene.path === "string" ? scene.path : scene.path(idOf);
      return {
        address: server.listening.url + path,
        token: server.newToken ?? "",
        stop: () => server.close(),
      };
    },
    async close() {
      stop.abort();
      await living;
      for (const server of servers) await server.close();
    },
  };
}

async function startServer(web: WebFiles, argv: readonly string[] = []): Promise<Server> {
  const settings = readSettings(["--port", "0", "--data", "memory:", ...argv], {});
  return serve(settings, await openStores(settings), pino({ level: "silent" }), { web });
}

/** People, what they may do, and tokens of jobs. */
async function fillTeam(cairn: Cairn): Promise<void> {
  await fillDemo(cairn, { seed: SEED, scale: "small" });
  const { access } = cairn;
  for (const [name, displayName] of [
    ["ines", "Inês Duarte"],
    ["mei", "Mei Tanaka"],
    ["olu", "Olu Adeyemi"],
    ["priya", "Priya Nair"],
  ] as const) {
    await access.createPrincipal({ name, displayName, kind: PrincipalKind.USER });
  }
  await access.createPrincipal({ ...NEWCOMER, displayName: "Noor Haddad", kind: PrincipalKind.USER });
  await access.createPrincipal({ name: "nightly", kind: PrincipalKind.SERVICE });
  await access.createPrincipal({ name: "speech", displayName: "Speech team", kind: PrincipalKind.GROUP });
  for (const member of ["ines", "priya"]) await access.addMember({ group: "speech", member });
  const confidential = { namespace: "demo/translation/confidential" };
  await access.bindRole({ principal: "speech", role: Role.WRITER, scope: { namespace: "demo/speech" } });
  await access.bindRole({ principal: "mei", role: Role.MAINTAINER, scope: { namespace: "demo/vision" } });
  await access.bindRole({ principal: "olu", role: Role.MAINTAINER, scope: confidential });
  await access.bindRole({ principal: "priya", role: Role.VIEWER, scope: confidential });
  await access.bindRole({
    principal: "nightly",
    role: Role.WRITER,
    scope: { namespace: "demo/translation/nightly" },
  });
  for (const [name, role, days] of [
    ["notebook", Role.VIEWER, 30],
    ["sweep launcher", Role.WRITER, 90],
    ["dashboards", Role.VIEWER, 365],
  ] as const) {
    await access.createToken({ name, role, days, namespaces: ["demo"] });
  }
}
