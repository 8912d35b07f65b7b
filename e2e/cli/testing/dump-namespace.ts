import { Encoding } from "#proto/cairn/v1/metric_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";

/**
 * Everything there is in a namespace, without ids and with times counted from the first start: what two servers with
 * the same content have in common.
 */
export async function dumpNamespace(cairn: Cairn, namespace: string): Promise<unknown> {
  const { namespaces } = await cairn.namespaces.listNamespaces({ under: namespace });
  const { runs } = await cairn.runs.searchRuns({
    namespace,
    pageSize: 10_000,
    columns: ["params", "tags", "aliases", "notes", "provenance"],
  });
  const starts = runs.map(({ startedUs }) => startedUs).filter((us) => us > 0n);
  const beginUs = starts.reduce((least, us) => (us < least ? us : least), starts[0] ?? 0n);
  const names = new Map(runs.map(({ id, aliases }) => [id, aliases[0]!]));
  const dumps = await Promise.all(runs.map((run) => dumpRun(cairn, run, beginUs, names)));
  const keys = await cairn.metrics.listKeys({ namespace: `${namespace}/speech` });
  return {
    namespaces: namespaces.map(({ path, description, objective, runCount }) => ({
      path,
      description,
      objective,
      runCount,
    })),
    keys: keys.keys,
    runs: dumps.sort((a, b) => (a.alias < b.alias ? -1 : 1)),
  };
}

async function dumpRun(cairn: Cairn, run: Run, beginUs: bigint, names: ReadonlyMap<string, string>) {
  const of = { run: { id: run.id } };
  const since = (us: bigint) => (us === 0n ? 0n : us - beginUs);
  const { series } = await cairn.metrics.listSeries({ ...of, pageSize: 10_000 });
  const read = await cairn.metrics.readSeries({
    series: series.map(({ key, labels }) => ({ run: of.run, key, labels })),
    includeReplaced: true,
    encoding: Encoding.NUMBERS,
  });
  const { lines } = await cairn.logs.readLog({ ...of, limit: 10_000 });
  const { artifacts } = await cairn.artifacts.listArtifacts({ ...of, pageSize: 10_000 });
  const { sources } = await cairn.lineage.listSources(of);
  const { namespace, name, aliases, status, params, tags, notes, provenance, startedUs, endedUs } = run;
  return {
    alias: aliases[0]!,
    about: { namespace, name, aliases, status, params, tags, notes, provenance },
    // A run that has not started has no time of its own.
    startedUs: since(startedUs),
    endedUs: since(endedUs),
    series: read.series.map((data) => ({
      key: data.key,
      labels: data.labels,
      steps: data.steps?.numbers,
      values: data.values?.numbers,
      replaced: data.replaced,
      times: data.timesUs?.numbers.map((us) => us - Number(beginUs)),
    })),
    lines: lines.map(({ number, text, stream, rank, origin, timeUs }) => [
      number,
      text,
      stream,
      rank,
      origin,
      since(timeUs),
    ]),
    artifacts: artifacts.map(({ name: file, step, kind, uri, sha256, mediaType, metadata }) => ({
      file,
      step,
      kind,
      uri,
      sha256,
      mediaType,
      metadata,
    })),
    sources: sources.map(({ runId, externalId, artifact }) => [
      names.get(runId) ?? runId,
      externalId,
      artifact,
    ]),
  };
}
