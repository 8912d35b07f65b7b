import { useState } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { searchRuns } from "#sdk/pages.ts";
import { queryAmong } from "../../data/live/merge.ts";
import type { RunList } from "../../data/runs/run-list.ts";
import { cairn, serverClock } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { downloadText } from "../../widgets/download.ts";
import { countOf } from "#lang/words/numbers.ts";
import { Download } from "../../widgets/icons/icons.ts";
import { tableCsv } from "./table/table-csv.ts";
import type { RunRows } from "./use-run-rows.ts";

const EXPORTED_MAX = 10_000;
/** Ids that fit into a query. */
const AMONG_MAX = 300;

/** Saves what the table shows as a file: the selected runs, or all that match up to a bound. */
export function ExportButton({ rows }: { rows: RunRows }) {
  const [isReading, setReading] = useState(false);
  const [isFailed, setFailed] = useState(false);
  const { list, selected, columns } = rows;
  if (list === undefined) return null;
  const onClick = async () => {
    setReading(true);
    try {
      const runs = await (selected.size > 0 ? readRuns(list, [...selected]) : list.range(0, EXPORTED_MAX));
      downloadText("runs.csv", "text/csv", tableCsv(runs, columns, serverClock.now()));
      setFailed(false);
    } catch {
      setFailed(true);
    } finally {
      setReading(false);
    }
  };
  const count = selected.size > 0 ? selected.size : Math.min(list.total, EXPORTED_MAX);
  const isPart = selected.size === 0 && list.total > EXPORTED_MAX;
  const words = `Save ${isPart ? "the first " : ""}${countOf(count, "run")} as CSV`;
  return (
    <>
      {isFailed && <span role="alert">The runs could not be read. Try again.</span>}
      <Button quiet label={words} onClick={() => void onClick()} disabled={isReading || count === 0}>
        <Download size={14} aria-hidden />
      </Button>
    </>
  );
}

/** In the order of the ids. Those that are not in the table are read; those that do not match any more are left out. */
async function readRuns(list: RunList, ids: readonly string[]): Promise<Run[]> {
  const found = new Map<string, Run>();
  for (const id of ids) {
    const place = list.placeOf(id);
    const run = place === undefined ? undefined : list.at(place);
    if (run !== undefined) found.set(id, run);
  }
  const others = ids.filter((id) => !found.has(id));
  const { namespace, columns } = list.view;
  for (let at = 0; at < others.length; at += AMONG_MAX) {
    const query = queryAmong(list.view, others.slice(at, at + AMONG_MAX));
    const request = { query, namespace, columns: [...columns], pageSize: AMONG_MAX };
    // One after the other: five thousand runs are a dozen calls.
    // oxlint-disable-next-line no-await-in-loop
    for (const run of (await searchRuns(cairn, request)).runs) found.set(run.id, run);
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}
