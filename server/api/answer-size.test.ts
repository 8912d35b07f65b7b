import { fromJson, toBinary, type DescMethod, type JsonObject } from "@bufbuild/protobuf";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { Encoding } from "#proto/cairn/v1/metric_pb.ts";
import { EXPENSIVE } from "#wire/connect/open-call.ts";
import { methodName } from "#wire/connect/permission.ts";
import { SERVICES } from "#wire/connect/services/services.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { clientsOf, TWO_WAYS, WAYS } from "#wire/connect/testing/ways.ts";
import { LONG_ROWS, writeLargeRows, type LargeRows } from "../testing/large-rows.ts";
import { useServer } from "../testing/servers.ts";

const fast = useServer();
let rows: LargeRows;

beforeAll(async () => {
  rows = await writeLargeRows(createGrpcTransport({ baseUrl: fast().listening.url }));
}, 600_000);

const MANY = 10_000;
const REQUEST_BYTES_MAX = 10 << 10;
const REFUSED = { code: "ResourceExhausted", details: [{ reason: "LIMIT_EXCEEDED" }] };

/** The largest answer to a small request; and the limit where that is not a page. */
const ASKED: Readonly<
  Record<string, { ask: (rows: LargeRows) => JsonObject[]; bytesMax?: { binary: number; json: number } }>
> = {
  GetNamespace: { ask: ({ namespace }) => [{ path: `${namespace}/k000` }] },
  ListNamespaces: { ask: () => [{ pageSize: MANY }, { pageSize: MANY, withBest: true }] },
  ListObjectives: { ask: ({ namespace }) => [{ namespaces: Array.from({ length: 200 }, () => namespace) }] },
  CompareRuns: {
    ask: ({ runId }) => [
      { runs: [{ id: runId }], withPatches: true },
      { runs: [{ id: runId }], stats: ["last", "min", "max", "mean"] },
      { runs: [{ id: runId }], onlyDifferent: true },
    ],
  },
  ListFields: { ask: () => [{ pageSize: MANY }, {}] },
  GetImportance: { ask: () => [{ objective: "metrics.m0.min" }, { objective: "duration" }] },
  GetFrontier: {
    ask: () => [
      { goals: ["metrics.m0.min", "duration"].map((field) => ({ field, direction: "DIRECTION_MINIMIZE" })) },
    ],
  },
  GetRun: {
    ask: ({ runId, namespace }) => [{ run: { id: runId } }, { run: { alias: "a", namespace } }],
    bytesMax: both(36 << 20),
  },
  SearchRuns: {
    ask: () => [
      { pageSize: MANY, columns: ["provenance"] },
      { pageSize: MANY, columns: ["provenance", "notes", "params", "tags", "aliases"] },
      { pageSize: MANY, columns: Array.from({ length: 450 }, (_, i) => `metrics.m${i}.max`) },
      { pageSize: MANY, offset: 1, columns: ["provenance"] },
    ],
    // A single run may be larger.
    bytesMax: both(36 << 20),
  },
  ListKeys: { ask: ({ namespace }) => [{ namespace }, { namespace, pageSize: MANY }] },
  ListHosts: { ask: () => [{ pageSize: MANY }] },
  ListSeries: {
    ask: ({ runId }) => [
      { run: { id: runId }, pageSize: MANY },
      { under: "", withHosts: true, pageSize: MANY },
    ],
  },
  ListLabels: { ask: ({ runId }) => [{ run: { id: runId }, label: "", pageSize: MANY }] },
  ListRunKeys: {
    ask: ({ runId }) => [{ runs: Array.from({ length: 200 }, () => ({ id: runId })) }],
  },
  ReadSeries: {
    ask: ({ runId }) => {
      const of = (key: string) => ({ run: { id: runId }, key, allLabels: true });
      const all = Array.from({ length: 12 }, (_, i) => of(`m${i}`));
      return [
        { series: Array.from({ length: 100 }, () => of("m0")), buckets: 20_000 },
        { series: all },
        { series: all, encoding: "ENCODING_NUMBERS" },
        { series: all, buckets: 20_000 },
        { series: all, from: 5, to: 90_000 },
        { series: [of("texts")] },
        { series: [of("labelled")], from: 7 },
      ];
    },
    bytesMax: { binary: limits.readBytesMax, json: 1.3 * limits.readTextBytesMax },
  },
  ReadGroups: {
    ask: ({ runId, namespace }) => [
      {
        namespace,
        groupBy: Array.from({ length: 20 }, (_, i) => `params.p${i}`),
        key: "m0",
        buckets: 20_000,
      },
      {
        groups: Array.from({ length: 100 }, () => ({ name: "g", runs: [{ id: runId }] })),
        key: "m0",
        buckets: 20_000,
      },
      { namespace, key: "labelled", buckets: 20_000 },
    ],
    bytesMax: { binary: 9 * limits.groupNumbersMax, json: 1.3 * limits.readTextBytesMax },
  },
  GetArtifact: { ask: ({ runId }) => [{ run: { id: runId }, name: "k000" }] },
  ListArtifacts: { ask: ({ runId }) => [{ run: { id: runId }, pageSize: MANY }] },
  SearchModels: { ask: ({ namespace }) => [{ namespace, pageSize: MANY }] },
  ListSources: { ask: ({ runId }) => [{ run: { id: runId }, pageSize: MANY }] },
  ListChildren: { ask: () => [{ externalId: `0${"s".repeat(1_000)}`, pageSize: MANY }] },
  GetLineage: { ask: ({ runId }) => [{ run: { id: runId }, depth: 100 }] },
  ReadLog: { ask: ({ runId }) => [{ run: { id: runId }, limit: MANY }] },
  SearchLog: { ask: ({ runId }) => [{ run: { id: runId }, text: "x", limit: MANY }] },
  WhoAmI: { ask: () => [{}] },
  ExplainAccess: { ask: ({ principal, runId }) => [{ principal, scope: { runId } }] },
  ListPrincipals: { ask: () => [{ pageSize: MANY }] },
  GetScope: { ask: () => [{ scope: { namespace: "" } }] },
  ListTokens: { ask: ({ principal }) => [{ principal }], bytesMax: both(56 << 20) },
  ListAudit: { ask: () => [{ pageSize: MANY }] },
  VerifyAudit: { ask: () => [{}] },
  GetAuditHead: { ask: () => [{}] },
  GetInfo: { ask: () => [{}] },
  VerifyRun: { ask: ({ runId }) => [{ run: { id: runId } }] },
  ListBackups: { ask: () => [{}] },
  CheckIntegrity: { ask: () => [{}] },
};

/** They answer with what was sent to them, with one run or with very little, also for each of many. */
const WRITING = new Set(
  `CreateNamespace UpdateNamespace MoveNamespace DeleteNamespace RestoreNamespace PurgeNamespace CreateRun UpdateRun DeleteRun RestoreRun
   MoveRun PurgeRun DeleteSeries WriteEnvelope WriteEnvelopes DescribeKey RecordArtifact DeleteArtifact RestoreArtifact PurgeArtifacts AddSource RemoveSource LogIn
   LogOut ChangePassword CreatePrincipal UpdatePrincipal DeletePrincipal AddMember RemoveMember BindRole
   UnbindRole SetClosed CreateToken RevokeToken CreateBackup RestoreBackup`.split(/\s+/),
);
/** A page, with what the encoding adds to the texts in it. */
const PAGE_BYTES = both(1.3 * limits.pageBytesMax);

function both(bytes: number): { binary: number; json: number } {
  return { binary: bytes, json: bytes };
}

const methods = SERVICES.flatMap(({ methods: own }): readonly DescMethod[] => own).filter(
  ({ methodKind }) => methodKind === "unary",
);

describe.each(["binary", "json"] as const)("as %s", (encoding) => {
  it.each(methods.filter(({ name }) => !WRITING.has(name)))(
    "S27 W8 %s answers a small request within its limit, or refuses it",
    async (method) => {
      const { ask, bytesMax = PAGE_BYTES } = ASKED[method.name]!;
      for (const asked of ask(rows)) {
        const message = fromJson(method.input, asked);
        const body =
          encoding === "json" ? JSON.stringify(asked) : Buffer.from(toBinary(method.input, message));
        expect(Buffer.byteLength(body)).toBeLessThan(REQUEST_BYTES_MAX);
        const response = await fetch(`${fast().listening.url}/${method.parent.typeName}/${method.name}`, {
          method: "POST",
          headers: { "content-type": encoding === "json" ? "application/json" : "application/proto" },
          body,
        });
        const answer = Buffer.from(await response.arrayBuffer());
        if (response.status !== 200) {
          // A store in memory has no backups.
          const code = method.name === "ListBackups" ? "failed_precondition" : "resource_exhausted";
          expect(JSON.parse(answer.toString())).toMatchObject({ code });
        }
        expect(answer.length).toBeLessThan(bytesMax[encoding]);
      }
    },
  );
});

it("S27 W8 every method is called, or writes", () => {
  const names = methods.map(({ name }) => name);
  expect(names.filter((name) => !WRITING.has(name) && ASKED[name] === undefined)).toEqual([]);
  expect([...WRITING, ...Object.keys(ASKED)].filter((name) => !names.includes(name))).toEqual([]);
});

/** One row of at most 80 KiB; or, of a run, a slot for what turns out to be large (e2e/load/large-answers.test.ts). */
const WITHOUT_SLOT = ["GetArtifact", "GetAuditHead", "GetRun", "ListBackups"];

it("S28 every method that reads waits for a slot, or has a small answer", () => {
  const reading = methods.filter(({ name }) => !WRITING.has(name));
  const free = reading.filter((method) => !EXPENSIVE.has(methodName(method))).map(({ name }) => name);
  expect(free.toSorted()).toEqual(WITHOUT_SLOT);
});

// The generic methods answer JSON and gRPC-Web.
const GRPC_WEB = WAYS.find(({ name }) => name === "gRPC-Web")!;

describe.each([...TWO_WAYS, GRPC_WEB])("$name", (way) => {
  const open = () => ({ ...clientsOf(way.transport(fast().listening.url)), rows });

  it("P6 reads a series once, however often and in any form it is named", async () => {
    const {
      metrics,
      rows: { runId, namespace },
    } = open();
    const refs = [{ id: runId }, { path: `${namespace}/${runId}` }, { alias: "a", namespace }];
    const selectors = refs.flatMap((run) => [
      { run, key: "m1" },
      { run, key: "m0", allLabels: true },
      { run, key: "m0" },
    ]);
    const many = Array.from({ length: 100 }, () => selectors).flat();
    const { series } = await metrics.readSeries({ series: many, buckets: 20_000 });
    expect(series.map(({ key, pointCount }) => [key, pointCount])).toEqual([
      ["m1", 100_000n],
      ["m0", 100_000n],
    ]);
  });

  it("P5 limits text to a fifth of the limit of bytes, with a hint", async () => {
    const {
      metrics,
      rows: { runId },
    } = open();
    const series = Array.from({ length: 12 }, (_, i) => ({ run: { id: runId }, key: `m${i}` }));
    const reads = (encoding: Encoding, more: object = {}) =>
      metrics.readSeries({ series, encoding, ...more });
    const tooMuch = {
      ...REFUSED,
      details: [{ reason: "LIMIT_EXCEEDED", hint: expect.stringContaining("binary") as string }],
    };
    expect(await errorOf(reads(Encoding.NUMBERS))).toMatchObject(tooMuch);
    expect(await errorOf(reads(Encoding.NUMBERS, { buckets: 20_000 }))).toMatchObject(tooMuch);
    expect(await errorOf(reads(Encoding.NUMBERS, { from: 1n }))).toMatchObject(tooMuch);
    if (way.json) expect(await errorOf(reads(Encoding.BYTES))).toMatchObject(tooMuch);
    else expect((await reads(Encoding.BYTES)).series).toHaveLength(12);
    expect((await reads(Encoding.NUMBERS, { buckets: 1_000 })).series).toHaveLength(12);
  });

  it("G5 allows text fewer numbers than bytes", async () => {
    const {
      metrics,
      rows: { runId },
    } = open();
    const groups = Array.from({ length: 12 }, (_, i) => ({ name: `g${i}`, runs: [{ id: runId }] }));
    const read = (encoding: Encoding) => metrics.readGroups({ groups, key: "m0", buckets: 20_000, encoding });
    expect(await errorOf(read(Encoding.NUMBERS))).toMatchObject(REFUSED);
    if (way.json) expect(await errorOf(read(Encoding.BYTES))).toMatchObject(REFUSED);
    else expect((await read(Encoding.BYTES)).groups).toHaveLength(12);
  });
});

it.each(TWO_WAYS)("Q8 pages of large rows hold everything once: $name", async (way) => {
  const { namespace, runId } = rows;
  const { runs, metrics, artifacts } = clientsOf(way.transport(fast().listening.url));
  const found = await gather(async (pageToken) => {
    const page = await runs.searchRuns({ namespace, columns: ["provenance"], pageToken });
    return [page.runs.map(({ id }) => id), page.nextPageToken];
  });
  expect([found.pages > 1, new Set(found.items).size, found.items.length]).toEqual([true, 4, 4]);
  const keys = await gather(async (pageToken) => {
    const page = await metrics.listKeys({ namespace, pageToken });
    return [page.keys.map(({ key }) => key), page.nextPageToken];
  });
  expect([keys.pages, new Set(keys.items).size, keys.items.length]).toEqual([2, LONG_ROWS, LONG_ROWS]);
  const listed = await gather(async (pageToken) => {
    const page = await artifacts.listArtifacts({ run: { id: runId }, pageSize: MANY, pageToken });
    return [page.artifacts.map(({ name }) => name), page.nextPageToken];
  });
  expect([listed.pages, new Set(listed.items).size, listed.items.length]).toEqual([2, LONG_ROWS, LONG_ROWS]);
});

async function gather(
  read: (pageToken: string) => Promise<[items: string[], nextPageToken: string]>,
): Promise<{ items: string[]; pages: number }> {
  const items: string[] = [];
  let pages = 0;
  for (let pageToken = ""; ;) {
    const [some, next] = await read(pageToken);
    items.push(...some);
    pages++;
    if (next === "") return { items, pages };
    pageToken = next;
  }
}
