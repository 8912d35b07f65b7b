import { expect, it } from "vitest";
import type { Caller } from "#core/access/caller.ts";
import { limits } from "#lang/limits.ts";
import type { Envelope } from "#core/types/envelope.ts";
import type { HostName } from "#core/types/host.ts";
import type { Among } from "#core/series/scope.ts";
import { artifactRecord } from "../artifact-record.ts";
import { buildCore, CALLER, NO_CREDENTIAL, type CoreUnderTest } from "../core-under-test.ts";
import { callerWithout } from "../masked-caller.ts";
import { logLines } from "../naive-log.ts";
import { numbers, refused, useStores, type OpenStores } from "../stores.ts";

const OPEN: HostName = { namespace: "open", name: "n1" };
const SECRET: HostName = { namespace: "open/secret", name: "n2" };
const READ = {
  axis: "step",
  from: undefined,
  to: undefined,
  buckets: 0,
  includeReplaced: false,
  onlyReplaced: false,
  form: "bytes",
} as const;
const WHOLE = { axis: "step", from: undefined, to: undefined } as const;
const ANY = [{ label: "", op: "=~", value: ".*" }] as const;
const ALL = { under: "", pageSize: 0, pageToken: "" };

function hostEnvelope(host: HostName, parts: Partial<Omit<Envelope, "run" | "host">> = {}): Envelope {
  return { host, writer: "", seq: 0, series: [numbers("cpu", [1])], change: undefined, lost: [], ...parts };
}

export function coreHostsContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = async () => {
    const built = await buildCore(bench.under);
    for (const host of [OPEN, SECRET]) await built.ingest.write(CALLER, hostEnvelope(host));
    return built;
  };
  const eve = (permission: Caller["permission"]) =>
    callerWithout({ namespaces: ["open/secret"] }, permission);
  const list = async ({ metrics }: CoreUnderTest, caller: Caller, among: Among) => {
    const page = { matchers: [], glob: "", regex: "", pageSize: 0, pageToken: "" };
    const { series, total } = await metrics.list(caller, { among, ...page });
    return { hosts: series.map(({ host }) => host?.name), total };
  };

  it("A55 a caller that may not read a namespace finds no host in it, and is answered as for a missing one", async () => {
    const built = await core();
    const { metrics } = built;
    const reader = eve("read");
    const nowhere = { namespace: "open", name: "nowhere" };
    const withHosts = { under: "", withHosts: true };
    expect(await list(built, CALLER, withHosts)).toMatchObject({ hosts: ["n1", "n2"] });
    expect(await list(built, reader, withHosts)).toMatchObject({ hosts: ["n1"] });
    expect(await list(built, reader, { under: "" })).toMatchObject({ hosts: [] });
    expect(await list(built, reader, { hosts: [OPEN, SECRET] })).toMatchObject({ hosts: ["n1"] });
    expect((await list(built, reader, { hosts: [SECRET] })).hosts).toEqual(
      (await list(built, reader, { hosts: [nowhere] })).hosts,
    );
    expect((await list(built, reader, { hosts: [OPEN, OPEN] })).total).toBe(1);
    const read = async (caller: Caller, ...hosts: HostName[]) => {
      const series = hosts.map((host) => ({ host, key: "cpu", labels: [] }));
      return (await metrics.read(caller, { ...READ, series })).series.map(({ host }) => host?.name);
    };
    expect(await read(CALLER, SECRET, OPEN, SECRET)).toEqual(["n2", "n1"]);
    expect(await read(reader, SECRET, OPEN)).toEqual(["n1"]);
    expect(await read(reader, SECRET)).toEqual(await read(reader, nowhere));
    const labels = async (caller: Caller, among: Among) => {
      const page = { matchers: [], label: "", pageSize: 0, pageToken: "" };
      return (await metrics.listLabels(caller, { among, ...page })).texts;
    };
    expect(await labels(CALLER, withHosts)).toEqual([{ text: "cpu", seriesCount: 2 }]);
    expect(await labels(reader, withHosts)).toEqual([{ text: "cpu", seriesCount: 1 }]);
    expect(await labels(reader, { hosts: [SECRET] })).toEqual([]);
    const anonymous = [
      list(built, NO_CREDENTIAL, { hosts: [OPEN] }),
      read(NO_CREDENTIAL, OPEN),
      metrics.listHosts(NO_CREDENTIAL, ALL),
    ];
    for (const call of anonymous) await expect(call).rejects.toEqual(refused("unauthenticated"));
  });

  it("A55 V19 lists hosts in pages, without those that the caller may not read", async () => {
    const { metrics, ingest } = await core();
    await ingest.write(CALLER, hostEnvelope({ namespace: "open/z", name: "n3" }));
    const found = async (caller: Caller, parts: Partial<typeof ALL> = {}) => {
      const { hosts, nextPageToken } = await metrics.listHosts(caller, { ...ALL, ...parts });
      return [hosts.map(({ name }) => name).join(" "), nextPageToken];
    };
    expect(await found(CALLER)).toEqual(["n1 n2 n3", ""]);
    expect(await found(eve("read"))).toEqual(["n1 n3", ""]);
    expect(await found(eve("read"), { under: "open/secret" })).toEqual(["", ""]);
    const [first, pageToken] = await found(eve("read"), { pageSize: 1 });
    expect(first).toBe("n1");
    expect(pageToken).not.toContain("secret");
    expect(await found(eve("read"), { pageSize: 1, pageToken: pageToken! })).toEqual(["n3", ""]);
    await expect(found(CALLER, { pageToken: "?" })).rejects.toEqual(refused("invalid", "PAGE_TOKEN"));
    await expect(found(CALLER, { under: "a//b" })).rejects.toEqual(refused("invalid"));
  });

  it("A55 writing to a host needs the right to write in its namespace", async () => {
    const built = await core();
    const written = built.ingest.write(eve("write"), hostEnvelope(SECRET, { series: [numbers("mem", [1])] }));
    await expect(written).rejects.toEqual(refused("forbidden"));
    const unseen = built.ingest.write(NO_CREDENTIAL, hostEnvelope({ namespace: "other", name: "n" }));
    await expect(unseen).rejects.toEqual(refused("unauthenticated"));
    expect((await list(built, CALLER, { hosts: [SECRET] })).total).toBe(1);
    expect(await bench.namespaces.findNamespace("other")).toBeUndefined();
  });

  it("A56 deletes series of a host for a caller that may destroy, with an entry that names it", async () => {
    const { metrics } = await core();
    const remove = (caller: Caller, host: HostName) =>
      metrics.delete(caller, { ...WHOLE, host, matchers: ANY });
    const nothing = { series: 0, points: 0 };
    expect(await remove(eve("maintain"), SECRET)).toEqual(nothing);
    expect(await remove(eve("maintain"), { ...OPEN, name: "nowhere" })).toEqual(nothing);
    const readOnly: Caller = {
      ...eve("maintain"),
      rights: { ...eve("maintain").rights, may: (permission) => permission === "read" },
    };
    await expect(remove(readOnly, OPEN)).rejects.toEqual(refused("forbidden"));
    expect((await metrics.listHosts(CALLER, ALL)).hosts).toHaveLength(2);
    expect(await remove(eve("maintain"), OPEN)).toEqual({ series: 1, points: 1 });
    expect((await metrics.listHosts(CALLER, ALL)).hosts).toMatchObject([SECRET]);
    const query = { principal: undefined, action: "delete-series", target: undefined };
    const entries = await bench.under.access.listAudit({ ...query, before: undefined, limit: 9 });
    expect(entries).toMatchObject([
      { principal: "eve", target: "n1", facts: { namespace: "open", host: "n1", series: "1", points: "1" } },
    ]);
  });

  it.each([
    ["a number", { writer: "w", seq: 1 }, "invalid", "HOST_ENVELOPE"],
    ["lost ranges", { writer: "w", seq: 2, lost: [{ first: 1, last: 1 }] }, "invalid", "HOST_ENVELOPE"],
    ["params", { change: { params: new Map([["lr", "1"]]) } }, "invalid", "HOST_ENVELOPE"],
    ["log lines", { log: [logLines(["x"])] }, "invalid", "HOST_ENVELOPE"],
    [
      "artifacts",
      { artifacts: [artifactRecord({ name: "a", uri: "s3://b/c" })] },
      "invalid",
      "HOST_ENVELOPE",
    ],
    ["no series", { series: [] }, "invalid", "HOST_ENVELOPE"],
    ["a host without a name", { host: { namespace: "lab", name: "" } }, "invalid", undefined],
    ["a host with a line feed", { host: { namespace: "lab", name: "a\nb" } }, "invalid", undefined],
    ["a host without a namespace", { host: { namespace: "", name: "n" } }, "invalid", undefined],
    [
      "a host with a name of 256 bytes",
      { host: { namespace: "lab", name: "ü".repeat(128) } },
      "exhausted",
      "LIMIT_EXCEEDED",
    ],
  ] as const)(
    "V17 refuses %s in an envelope of a host, and stores nothing",
    async (_, parts, code, reason) => {
      const { ingest, metrics } = await buildCore(bench.under);
      const envelope = { ...hostEnvelope({ namespace: "lab", name: "n" }), ...parts } as Envelope;
      await expect(ingest.write(CALLER, envelope)).rejects.toEqual(refused(code, reason));
      expect((await metrics.listHosts(CALLER, ALL)).hosts).toEqual([]);
      expect(ingest.accepted.envelopes).toBe(0);
    },
  );

  it("V17 V20 accepts a name of any text up to its limit, counts what it accepts, and finds no run", async () => {
    const { ingest, metrics, runs, namespaces } = await core();
    const name = `ü/ "${"x".repeat(limits.hostNameBytesMax - 5)}`;
    const ack = await ingest.write(CALLER, hostEnvelope({ namespace: "lab", name }));
    expect(ack).toEqual({ seq: 0, duplicate: false, points: 1 });
    expect(ingest.accepted).toMatchObject({ envelopes: 3, points: 3 });
    expect((await metrics.listHosts(CALLER, ALL)).hosts[0]).toMatchObject({ name, seriesCount: 1 });
    const query = { query: "", namespace: "", trashed: false, pageSize: 0, pageToken: "", columns: [] };
    expect((await runs.search(CALLER, query)).totalCount).toBe(0);
    expect(await namespaces.get(CALLER, "open")).toMatchObject({ path: "open", runCount: 0 });
    const series = [{ run: { by: "id", id: name }, key: "cpu", labels: [] }] as const;
    await expect(metrics.read(CALLER, { ...READ, series })).rejects.toEqual(refused("not-found"));
  });
}
