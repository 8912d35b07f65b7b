import { createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, it } from "vitest";
import { AccessService, PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { useServer } from "../testing/servers.ts";
import { Watching } from "../testing/watching.ts";

const server = useServer(["--auth"]);

function withToken(token: string): Transport {
  const interceptor: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  return createGrpcTransport({ baseUrl: server().listening.url, interceptors: [interceptor] });
}

let users = 0;

/** A new user who may read "lab" and a namespace of its own. */
async function newUser() {
  const name = `user-${++users}`;
  const transport = withToken(server().newToken!);
  const access = createClient(AccessService, transport);
  await access.createPrincipal({ name, kind: PrincipalKind.USER, password: "correct horse" });
  for (const namespace of ["lab", name]) {
    await access.bindRole({ principal: name, role: Role.VIEWER, scope: { namespace } });
  }
  const { secret } = await access.createToken({ principal: name });
  const { runs } = clientsOf(transport);
  return { name, access, runs, watch: clientsOf(withToken(secret)).watch };
}

it("H7 changed rights end a silent watch at once, and others continue", async () => {
  const { name, access, runs, watch } = await newUser();
  const other = await newUser();
  const { run: mine } = await runs.createRun({ namespace: name });
  const { run: lab } = await runs.createRun({ namespace: "lab" });
  const [all, series, undisturbed] = [
    await Watching.open(watch, { runs: {} }),
    await Watching.open(watch, { series: [{ run: { id: mine!.id } }] }),
    await Watching.open(other.watch, { runs: {} }),
  ];
  const ended = [all, series].map((watching) => errorOf(watching.any()));
  await access.unbindRole({ principal: name, scope: { namespace: "lab" } });
  for (const error of await Promise.all(ended)) {
    expect(error).toMatchObject({ code: "Aborted", details: [{ reason: "ACCESS_CHANGED" }] });
  }
  await runs.updateRun({ run: { id: lab!.id }, tags: { x: "1" } });
  await runs.updateRun({ run: { id: mine!.id }, tags: { x: "1" } });
  const again = await Watching.open(watch, { runs: {}, position: all.position });
  expect(await again.next("runs")).toMatchObject({ runs: [{ id: mine!.id }], left: [] });
  expect(await undisturbed.next("runs")).toMatchObject({ runs: [{ id: lab!.id }], left: [] });
  for (const watching of [again, undisturbed]) watching.stop();
});

it("H7 the id of a closed run is never sent, also not when the run and with it the closing is gone", async () => {
  const { access, runs, watch } = await newUser();
  const { run: secret } = await runs.createRun({ namespace: "lab" });
  const { run: open } = await runs.createRun({ namespace: "lab" });
  const { id } = secret!;
  await access.setClosed({ scope: { runId: id }, closed: true });
  let watching = await Watching.open(watch, { runs: { query: 'tags.x = "1"' } });
  const refused = errorOf(new Watching(watch, { series: [{ run: { id } }] }).any());
  expect(await refused).toMatchObject({ code: "NotFound" });
  await runs.updateRun({ run: { id }, tags: { x: "1" } });
  await runs.deleteRun({ run: { id } });
  await runs.updateRun({ run: { id: open!.id }, tags: { x: "2" } });
  expect(await watching.next("runs")).toMatchObject({ runs: [], left: [open!.id] });
  const ended = errorOf(watching.any());
  await runs.purgeRun({ run: { id } });
  expect(await ended).toMatchObject({ code: "Aborted", details: [{ reason: "ACCESS_CHANGED" }] });
  watching = await Watching.open(watch, { runs: { query: 'tags.x = "1"' }, position: watching.position });
  expect(await watching.next("behind")).toMatchObject({ what: ["runs"] });
  await runs.updateRun({ run: { id: open!.id }, tags: { x: "3" } });
  expect(await watching.next("runs")).toMatchObject({ runs: [], left: [open!.id] });
  watching.stop();
});
