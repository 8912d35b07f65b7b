import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { FieldKind } from "#proto/cairn/v1/explore_pb.ts";
import { Cairn } from "#sdk/client.ts";
import { listFields } from "#sdk/pages.ts";
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
