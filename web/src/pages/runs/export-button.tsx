import { Download } from "lucide-react";
import { useState } from "react";
import { Button } from "../../widgets/button.tsx";
import { formatCount } from "../../widgets/format.ts";
import { tableCsv } from "./table-csv.ts";
import type { RunRows } from "./use-run-rows.ts";

const EXPORTED_MAX = 10_000;

/** Saves what the table shows as a file: the selected runs, or all that match up to a bound. */
export function ExportButton({ rows }: { rows: RunRows }) {
  const [isReading, setReading] = useState(false);
  const { list, selected, columns } = rows;
  if (list === undefined) return null;
  const save = () => {
    const runs =
      selected.size > 0 ? list.rows.filter(({ id }) => selected.has(id)) : list.rows.slice(0, EXPORTED_MAX);
    const url = URL.createObjectURL(new Blob([tableCsv(runs, columns, Date.now())], { type: "text/csv" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = "runs.csv";
    link.click();
    // The browser has taken it by then.
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  const onClick = () => {
    if (selected.size > 0 || list.isComplete || list.rows.length >= EXPORTED_MAX) return save();
    setReading(true);
    const stop = list.subscribe(() => {
      if (!list.isComplete && list.rows.length < EXPORTED_MAX && list.failure === undefined) return;
      stop();
      setReading(false);
      if (list.failure === undefined) save();
    });
    list.need(EXPORTED_MAX);
  };
  const count = selected.size > 0 ? selected.size : Math.min(list.total, EXPORTED_MAX);
  const words = `Save ${formatCount(count)} ${count === 1 ? "run" : "runs"} as CSV`;
  return (
    <Button quiet label={words} onClick={onClick} disabled={isReading || count === 0}>
      <Download size={14} aria-hidden />
    </Button>
  );
}
