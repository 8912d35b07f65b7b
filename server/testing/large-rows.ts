import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { inParallel } from "#base/in-parallel.ts";
import { AccessService, PrincipalKind } from "#proto/cairn/v1/access_pb.ts";
import { SeriesKind, SeriesPointsSchema } from "#proto/cairn/v1/metric_pb.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";

/** All together are more than the server holds for one caller. */
const AT_ONCE = 10;
const LONG = "x".repeat(65_000);
/** With a long text each they are a little more than a page. */
export const LONG_ROWS = 265;

/** Data to request: of everything more than fits into one answer. */
export interface LargeRows {
  namespace: string;
  /** It has long params, notes, provenance, artifacts, series, log lines and sources. */
  runId: string;
  principal: string;
}

export async function writeLargeRows(transport: Transport): Promise<LargeRows> {
  const { namespaces, runs, metrics, artifacts, lineage } = clientsOf(transport);
  const access = createClient(AccessService, transport);
  const namespace = `large-${randomUUID()}`;
  const params = Object.fromEntries(indices(250).map((i) => [`p${i}`, `"${LONG}"`]));
  const provenance = { command: indices(110).map(() => LONG) };
  const { run } = await runs.createRun({
    namespace,
    params,
    notes: LONG.repeat(16),
    provenance,
    aliases: ["a"],
  });
  const of = { run: { id: run!.id } };
  await inParallel(indices(3), AT_ONCE, () => runs.createRun({ namespace, provenance }));
  await inParallel(indices(LONG_ROWS), AT_ONCE, async (i) => {
    const key = `k${String(i).padStart(3, "0")}`;
    await namespaces.createNamespace({ path: `${namespace}/${key}`, description: LONG });
    await metrics.describeKey({ description: { namespace, key, description: LONG } });
    const metadata = { long: `"${LONG}"` };
    await artifacts.recordArtifact({ ...of, artifact: { name: key, uri: "s3://b/k", kind: 2, metadata } });
    await lineage.addSource({
      ...of,
      source: { id: `${i}${"s".repeat(1_000)}`, artifact: "a".repeat(1_000) },
    });
  });
  const labels = Object.fromEntries(indices(15).map((i) => [`l${i}${"x".repeat(100)}`, "y".repeat(120)]));
  const labelled = indices(5_000).map((i) => ({
    key: "labelled",
    labels: { ...labels, rank: `${i}` },
    values: [i],
  }));
  await metrics.writeEnvelope({ ...of, series: labelled });
  await metrics.writeEnvelope({ host: { namespace, name: "h".repeat(255) }, series: labelled });
  const steps = indices(100_000).map(BigInt);
  const values = indices(100_000).map((i) => Math.sin(i));
  await inParallel(indices(12), AT_ONCE, (i) =>
    metrics.writeEnvelope({ ...of, series: [{ key: `m${i}`, steps, values }] }),
  );
  const texts = create(SeriesPointsSchema, {
    key: "texts",
    kind: SeriesKind.TEXT,
    texts: indices(300).map(() => LONG),
  });
  await inParallel(indices(2), AT_ONCE, () => metrics.writeEnvelope({ ...of, series: [texts] }));
  await metrics.writeEnvelope({ ...of, log: [{ lines: indices(80).map(() => LONG) }] });
  await inParallel(indices(20), AT_ONCE, (i) => metrics.writeEnvelope({ ...of, writer: `w${i}`, seq: 1n }));
  const principal = `p-${randomUUID().slice(0, 8)}`;
  await access.createPrincipal({ name: principal, kind: PrincipalKind.SERVICE });
  const paths = indices(100).map((i) => [...indices(9).map(() => "n".repeat(50)), `${i}`].join("/"));
  await inParallel(indices(400), AT_ONCE, () => access.createToken({ principal, namespaces: paths }));
  return { namespace, runId: run!.id, principal };
}

function indices(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
