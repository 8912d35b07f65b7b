import { expect, it } from "vitest";
import { inParallel } from "#base/in-parallel.ts";
import { limits } from "#lang/limits.ts";
import { PrincipalKind } from "#proto/cairn/v1/access_pb.ts";
import { FieldKind } from "#proto/cairn/v1/explore_pb.ts";
import { Cairn } from "#sdk/client.ts";
import { listFields, listNamespaces, listPrincipals } from "#sdk/pages.ts";
import { useServer } from "#server/testing/servers.ts";

const server = useServer();

it("M1 all fields come, also where one page does not hold them", async () => {
  const cairn = new Cairn({ url: server().listening.url });
  const namespace = "wide";
  const perRun = limits.pageSizeMax / 2 + 1;
  for (const run of ["a", "b"]) {
    const params = Object.fromEntries(Array.from({ length: perRun }, (_, i) => [`${run}${i}`, String(i)]));
    await cairn.runs.createRun({ namespace, params, tags: { team: run } });
  }
  const { fields, runCount } = await listFields(cairn, { runs: { namespace }, valuesMax: -1 });
  expect(runCount).toBe(2n);
  expect(new Set(fields.map(({ key }) => key)).size).toBe(2 * perRun + 1);
  expect(fields.length).toBe(2 * perRun + 1);
  const tags = await listFields(cairn, {
    runs: { namespace, query: "params.a0 = 0" },
    kinds: [FieldKind.TAG],
  });
  expect(tags.fields.map(({ key, values }) => [key, values.map(({ json }) => json)])).toEqual([
    ["team", ['"a"']],
  ]);
});

it("Q8 all namespaces and principals come, also where one page does not hold them", async () => {
  const cairn = new Cairn({ url: server().listening.url });
  const names = Array.from({ length: 1_001 }, (_, i) => `n${i}`);
  await inParallel(names, 20, async (name) => {
    await cairn.namespaces.createNamespace({ path: `many/${name}` });
    await cairn.access.createPrincipal({ name, kind: PrincipalKind.SERVICE });
  });
  const paths = (await listNamespaces(cairn, { under: "many" })).map(({ path }) => path);
  expect(paths.toSorted()).toEqual(["many", ...names.map((name) => `many/${name}`)].toSorted());
  const principals = (await listPrincipals(cairn)).map(({ name }) => name);
  expect(principals).toHaveLength(new Set(principals).size);
  expect(principals).toEqual(expect.arrayContaining(names));
});
