/** Answers for hidden things take as long as those for missing ones. */
import { Agent, request } from "node:http";
import { rmSync } from "node:fs";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { startChild } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { dose, tally } from "../../tools/dose.ts";
import { objections } from "../load/measure.ts";

const PAIRS = dose(1_000, 4_000);
const WARM_UP = 300;
/** Of pairs in which the hidden one took longer. With 1,000 of equal work it is beyond 0.6 once in billions of times. */
const SHARE_MAX = 0.6;

it("A21, S1: the time of GetNamespace does not distinguish a hidden namespace from a missing one", async () => {
  const folder = makeFolder();
  const server = await startChild(["--auth", "--data", folder]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(async () => {
    agent.destroy();
    server.child.kill("SIGKILL");
    await server.exited;
    rmSync(folder, { recursive: true });
  });
  await expect.poll(() => server.greeting.join("\n")).toContain("Admin token");
  const admin = /Admin token[^:]*: (\S+)/.exec(server.greeting.join("\n"))![1]!;
  const call = (method: string, message: object, token: string) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      const url = new URL(`/cairn.v1.${method}`, server.url);
      request(url, { method: "POST", agent, headers }, (response) => {
        text(response).then((body) => resolve({ status: response.statusCode!, body }), reject);
      })
        .on("error", reject)
        .end(JSON.stringify(message));
    });
  const ask = async (method: string, message: object) => {
    const { status, body } = await call(method, message, admin);
    expect(status, body).toBe(200);
    return JSON.parse(body) as Record<string, string>;
  };
  await ask("RunService/CreateRun", { namespace: "open" });
  await ask("RunService/CreateRun", { namespace: "secret/deep" });
  await ask("AccessService/CreatePrincipal", { name: "vera", kind: "PRINCIPAL_KIND_SERVICE" });
  const scope = { namespace: "open" };
  await ask("AccessService/BindRole", { principal: "vera", role: "ROLE_VIEWER", scope });
  const viewer = (await ask("AccessService/CreateToken", { principal: "vera" }))["secret"]!;

  const timeOf = async (path: string): Promise<number> => {
    const startMs = performance.now();
    const { status } = await call("NamespaceService/GetNamespace", { path }, viewer);
    const tookMs = performance.now() - startMs;
    expect(status).toBe(404);
    return tookMs;
  };
  /** Says so when one of them is slower too often. */
  const round = async (): Promise<string | undefined> => {
    let slower = 0;
    for (let pair = -WARM_UP; pair < PAIRS; pair++) {
      const hiddenFirst = pair % 2 === 0;
      const first = await timeOf(hiddenFirst ? "secret/deep" : "secret/dull");
      const second = await timeOf(hiddenFirst ? "secret/dull" : "secret/deep");
      if (pair >= 0 && (hiddenFirst ? first > second : second > first)) slower++;
    }
    const share = slower / PAIRS;
    tally("timed pairs", PAIRS);
    return share > SHARE_MAX || share < 1 - SHARE_MAX
      ? `hidden is slower in ${share} of all pairs`
      : undefined;
  };
  expect(await objections(round)).toEqual([]);
});
