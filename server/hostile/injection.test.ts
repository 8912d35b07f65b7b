import { createGrpcTransport } from "@connectrpc/connect-node";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Comparison, Field } from "#lang/query/ast.ts";
import { printQuery } from "#lang/query/print.ts";
import { Encoding } from "#proto/cairn/v1/metric_pb.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { dose, seed, tally } from "../../tools/dose.ts";
import { useServer } from "../testing/servers.ts";

/** Known payloads that break out of quotes, comments, patterns or paths. */
const HOSTILE = [
  "' OR '1'='1",
  "' OR 1=1 --",
  "'; DROP TABLE run; --",
  '" OR ""="',
  '"; DELETE FROM run; --',
  "') UNION SELECT sql FROM sqlite_master --",
  "1; ATTACH DATABASE '/tmp/x' AS x; --",
  "x' AND load_extension('/tmp/x') --",
  "/* */",
  "--",
  "?",
  "?1",
  ":name",
  "@name",
  "$1",
  "%",
  "_",
  "a%",
  "\\",
  "\\'",
  "'",
  "''",
  '"',
  "`",
  "`;",
  ")",
  "(",
  "a\u0000b",
  "a\nb",
  "\u2019",
  "\u02bc",
  "*",
  "[a-z]",
  "a",
  "A",
  " a",
  "a ",
  "1",
  "1.0",
  "true",
  "null",
  "x'61'",
];

const random = fc.sample(
  fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
    fc
      .array(fc.constantFrom("'", '"', "\\", "%", "_", "--", ";", ")", "a", " ", "`", "*"), {
        minLength: 1,
        maxLength: 8,
      })
      .map((parts) => parts.join("")),
  ),
  { numRuns: dose(20, 200), seed },
);
const TEXTS = [...new Set([...HOSTILE, ...random])];

describe(`S10 any text, with seed ${seed}`, () => {
  const server = useServer();
  let clients: Clients;
  /** Ids of the runs by the text they carry; the first few texts have two. */
  const idsOf = new Map<string, string[]>();

  beforeAll(async () => {
    clients = clientsOf(createGrpcTransport({ baseUrl: server().listening.url }));
    for (const text of [...TEXTS, ...TEXTS.slice(0, 20)]) {
      const { run } = await clients.runs.createRun({
        namespace: idsOf.has(text) ? "second" : "first",
        aliases: [text],
        tags: { t: text },
        params: { p: JSON.stringify(text) },
        notes: text,
      });
      idsOf.set(text, [...(idsOf.get(text) ?? []), run!.id]);
    }
  });

  async function found(field: Field, comparison: Comparison, value: string): Promise<string[]> {
    const query = printQuery({ where: { op: "compare", field, comparison, value }, orderBy: [] });
    const { runs, totalCount } = await clients.runs.searchRuns({ query, pageSize: 1_000 });
    expect(Number(totalCount)).toBe(runs.length);
    return runs.map(({ id }) => id).sort();
  }

  it("S10 in a query finds exactly the runs that carry it", async () => {
    const fields: Field[] = [
      { of: "tag", key: "t" },
      { of: "param", key: "p" },
      { of: "run", name: "notes" },
      { of: "run", name: "alias" },
    ];
    const all = [...idsOf.values()].flat();
    for (const [text, ids] of idsOf) {
      for (const field of fields) expect(await found(field, "=", text), text).toEqual(ids.toSorted());
      const others = all.filter((id) => !ids.includes(id)).sort();
      expect(await found({ of: "tag", key: "t" }, "!=", text), text).toEqual(others);
    }
  });

  it("S10 as a key of a query names that key and no other", async () => {
    const { run } = await clients.runs
      .createRun({ tags: Object.fromEntries(TEXTS.map((text) => [`k${text}`, text])) })
      .catch(async () => {
        // Keys must not contain control characters.
        const keys = TEXTS.filter((text) => !/\p{Cc}/u.test(text));
        return clients.runs.createRun({ tags: Object.fromEntries(keys.map((text) => [`k${text}`, text])) });
      });
    for (const key of Object.keys(run!.tags)) {
      const text = key.slice(1);
      expect(await found({ of: "tag", key }, "=", text), key).toEqual([run!.id]);
      expect(await found({ of: "tag", key }, "=", `${text}x`), key).toEqual([]);
    }
  });

  it("S10 as an alias finds its run, and none without the namespace", async () => {
    for (const [text, ids] of idsOf) {
      const run = await clients.runs.getRun({ run: { alias: text, namespace: "first" } });
      expect(run.id, text).toBe(ids[0]);
      await expect(
        clients.runs.getRun({ run: { alias: `${text}' OR 1=1 -- absent`, namespace: "second" } }),
      ).rejects.toThrow("cannot");
    }
  });

  it("S10 as a metric key, an artifact's name and a source is only text", async () => {
    const { run } = await clients.runs.createRun({});
    const ref = { id: run!.id };
    const kept = { series: [] as string[], artifacts: [] as string[], sources: [] as string[] };
    for (const [at, text] of TEXTS.entries()) {
      const wrote = await clients.metrics
        .writeEnvelope({ run: ref, series: [{ key: text, values: [at] }] })
        .catch(() => undefined);
      if (wrote !== undefined) kept.series.push(text);
      const recorded = await clients.artifacts
        .recordArtifact({ run: ref, artifact: { name: text, uri: `s3://b/${at}` } })
        .catch(() => undefined);
      if (recorded !== undefined) kept.artifacts.push(text);
      const linked = await clients.lineage
        .addSource({ run: ref, source: { id: `outside ${text}` } })
        .catch(() => undefined);
      if (linked !== undefined) kept.sources.push(text);
    }
    expect(kept.series.length).toBeGreaterThan(TEXTS.length / 2);
    expect(kept.artifacts.length).toBeGreaterThan(TEXTS.length / 3);
    expect(kept.sources.length).toBeGreaterThan(TEXTS.length / 2);
    for (const key of kept.series) {
      const { series } = await clients.metrics.readSeries({
        series: [{ run: ref, key }],
        encoding: Encoding.NUMBERS,
      });
      expect(
        series.map((one) => [one.key, one.values!.numbers]),
        key,
      ).toEqual([[key, [TEXTS.indexOf(key)]]]);
    }
    for (const name of kept.artifacts) {
      const artifact = await clients.artifacts.getArtifact({ run: ref, name });
      expect([artifact.name, artifact.uri]).toEqual([name, `s3://b/${TEXTS.indexOf(name)}`]);
      const { artifacts } = await clients.artifacts.listArtifacts({
        run: ref,
        prefix: name,
        pageSize: 1_000,
      });
      const expected = kept.artifacts.filter((other) => other.startsWith(name));
      expect(artifacts.map((one) => one.name).sort(), name).toEqual(expected.sort());
    }
    for (const source of kept.sources) {
      const { children } = await clients.lineage.listChildren({ externalId: `outside ${source}` });
      expect(children.length, source).toBe(1);
    }
  });

  it("S10 left everything unchanged", async () => {
    tally("hostile texts", TEXTS.length);
    expect((await clients.system.checkIntegrity({})).problems).toEqual([]);
    const { totalCount } = await clients.runs.searchRuns({
      query: 'namespace = "first" or namespace = "second"',
    });
    expect(Number(totalCount)).toBe([...idsOf.values()].flat().length);
  });
});
