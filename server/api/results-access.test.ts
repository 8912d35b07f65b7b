import { createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeEach, describe, expect, it } from "vitest";
import { AccessService, PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { useServer } from "../testing/servers.ts";

const server = useServer(["--auth"]);

function withToken(token: string): Transport {
  const interceptor: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  return createGrpcTransport({ baseUrl: server().listening.url, interceptors: [interceptor] });
}

const admin = () => createClient(AccessService, withToken(server().newToken!));

async function put(token: string, path: string, body: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/octet-stream" };
  const response = await fetch(`${server().listening.url}/results/${path}`, { method: "PUT", headers, body });
  return response.status;
}

async function get(token: string, path: string): Promise<{ status: number; record: unknown }> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${server().listening.url}/results/${path}`, { headers });
  return { status: response.status, record: await response.json() };
}

let count = 0;
/** A namespace for this test only. */
let lab: string;
beforeEach(() => {
  lab = `lab-${++count}`;
});

/** A new user with these roles, and a way to make its tokens. */
async function newUser(roles: Record<string, Role>) {
  const name = `user-${++count}`;
  await admin().createPrincipal({ name, kind: PrincipalKind.USER });
  for (const [namespace, role] of Object.entries(roles)) {
    await admin().bindRole({ principal: name, role, scope: { namespace } });
  }
  const token = async (bounds: { role?: Role; namespaces?: string[] } = {}) =>
    (await admin().createToken({ principal: name, ...bounds })).secret;
  return { name, token };
}

/** Like a job of the stock tracker: requests its base before each record. */
async function track(token: string, base: string, key: string, record: string): Promise<number> {
  await get(token, base);
  return put(token, `${base}/${key}`, record);
}

describe("the target of a record", () => {
  it("X45 a run that another user made on the path does not divert a record, deeper or further up", async () => {
    const ada = await (await newUser({ [lab]: Role.WRITER })).token();
    const eve = await (await newUser({ [lab]: Role.VIEWER, [`${lab}/exp`]: Role.WRITER })).token();
    const root = await (await newUser({ [lab]: Role.WRITER })).token();
    await clientsOf(withToken(eve)).runs.createRun({ namespace: `${lab}/exp`, aliases: ["attempt_1"] });
    expect(await track(ada, `${lab}/exp`, "attempt_1/out", '{"v": 1}')).toBe(204);
    expect(await get(ada, `${lab}/exp`)).toEqual({ status: 200, record: { "attempt_1/out": { v: 1 } } });
    expect(await get(ada, `${lab}/exp/attempt_1`)).toEqual({ status: 200, record: {} });
    // The reverse: a run above a closed namespace, by a user who may not write in there.
    await admin().setClosed({ scope: { namespace: `${lab}/secret` }, closed: true });
    const mia = await (await newUser({ [lab]: Role.VIEWER, [`${lab}/secret`]: Role.WRITER })).token();
    await clientsOf(withToken(root)).runs.createRun({ namespace: lab, aliases: ["secret"] });
    expect(await put(mia, `${lab}/secret/job/0`, '{"v": 2}')).toBe(204);
    expect((await get(root, `${lab}/secret`)).record).toEqual({});
    expect(await get(mia, `${lab}/secret/job`)).toEqual({ status: 200, record: { "0": { v: 2 } } });
  });

  it("X45 requests of others do not count, nor those of another token of the same principal", async () => {
    const ada = await newUser({ [lab]: Role.WRITER });
    const [job, notebook] = [await ada.token(), await ada.token({ role: Role.VIEWER })];
    const eve = await (await newUser({ [lab]: Role.VIEWER })).token();
    await get(job, `${lab}/exp`);
    for (const other of [notebook, eve]) await get(other, `${lab}/exp/attempt_1`);
    expect(await put(job, `${lab}/exp/attempt_1/out`, '{"v": 1}')).toBe(204);
    expect((await get(job, `${lab}/exp`)).record).toEqual({ "attempt_1/out": { v: 1 } });
    // Any number of requests.
    await get(job, `${lab}/deep/exp`);
    for (let i = 0; i < 300; i++) await get(eve, `${lab}/deep/exp/${i}`);
    expect(await put(job, `${lab}/deep/exp/attempt_1/out`, '{"v": 2}')).toBe(204);
    expect((await get(job, `${lab}/deep/exp`)).record).toEqual({ "attempt_1/out": { v: 2 } });
  });

  it("X45 a base where the caller may not write does not count", async () => {
    const ada = await newUser({ [lab]: Role.VIEWER, [`${lab}/exp`]: Role.WRITER });
    const token = await ada.token();
    expect(await track(token, `${lab}/exp`, "attempt_1/out", '{"v": 1}')).toBe(204);
    expect((await get(token, `${lab}/exp/attempt_1`)).record).toEqual({ out: { v: 1 } });
    expect(await track(token, `${lab}/exp`, "out", '{"v": 1}')).toBe(403);
  });

  it("X45 of a record that two runs along the path have, the one of the base is used, or it is refused", async () => {
    const ada = await (await newUser({ [lab]: Role.WRITER })).token();
    const eve = await (await newUser({ [lab]: Role.VIEWER, [`${lab}/exp`]: Role.WRITER })).token();
    expect(await track(ada, `${lab}/exp`, "attempt_1/out", '{"v": 1}')).toBe(204);
    expect(await put(eve, `${lab}/exp/attempt_1/out`, '{"v": "forged"}')).toBe(204);
    expect(await get(ada, `${lab}/exp/attempt_1/out`)).toEqual({ status: 200, record: { v: 1 } });
    const other = await (await newUser({ [lab]: Role.VIEWER })).token();
    expect(await get(other, `${lab}/exp/attempt_1/out`)).toMatchObject({
      status: 409,
      record: { reason: "RESULT_AMBIGUOUS" },
    });
  });
});
