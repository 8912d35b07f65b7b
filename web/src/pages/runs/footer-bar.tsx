import { useState } from "react";
import { useConnection } from "../../data/live/hooks.ts";
import { useHasRoleSomewhere } from "../../data/use-has-role.ts";
import { Button } from "../../widgets/button.tsx";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { Role } from "#proto/cairn/v1/access_pb.ts";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { PipelineButton } from "../../panels/pipeline/pipeline-button.tsx";
import { X } from "../../widgets/icons/icons.ts";
import { BulkActions } from "./bulk-actions.tsx";
import { COMPARED_MAX } from "./compared.ts";
import { ExportButton } from "./export-button.tsx";
import styles from "./runs-page.module.css";
import type { RunRows } from "./use-run-rows.ts";
import { SELECTED_MAX } from "./use-selection.ts";

const WORDS = {
  live: "live",
  connecting: "connecting …",
  lost: "not live",
  "signed-out": "signed out",
} as const;

/** How many runs match, how many are selected with their actions, and whether the page is live. */
export function FooterBar({ rows, onCompare }: { rows: RunRows; onCompare: () => void }) {
  const { list, selected } = rows;
  const { state } = useConnection();
  const isMost = selected.size >= SELECTED_MAX && list !== undefined && list.total > SELECTED_MAX;
  return (
    <footer className={styles.foot} aria-label="Status of the table">
      <span role="status">
        {list !== undefined &&
          (selected.size > 0
            ? `${formatCount(selected.size)} selected of ${formatCount(list.total)}${isMost ? ", the maximum" : ""}`
            : countOf(list.total, "run matches", "runs match"))}
      </span>
      {selected.size > 0 && <SelectionActions rows={rows} onCompare={onCompare} />}
      <span className={styles.space} />
      {(selected.size === 0 || state !== "live") && (
        <span className={state === "live" ? styles.live : styles.notLive}>{WORDS[state]}</span>
      )}
      <ExportButton rows={rows} />
      <CopyButton text={location.href} label="Copy a link to this view" />
    </footer>
  );
}

function SelectionActions({ rows, onCompare }: { rows: RunRows; onCompare: () => void }) {
  const [isPipelineOpen, setPipelineOpen] = useState(false);
  const mayWrite = useHasRoleSomewhere(Role.WRITER);
  const runIds = [...rows.selected];
  const isTooMany = runIds.length > COMPARED_MAX;
  return (
    <>
      <Button
        onClick={onCompare}
        disabled={runIds.length < 2}
        title={isTooMany ? `At most ${COMPARED_MAX} runs can be compared (x)` : "Compare (x)"}
      >
        {isTooMany ? `Compare the first ${COMPARED_MAX}` : "Compare"}
      </Button>
      {mayWrite && <BulkActions runIds={runIds} onDone={rows.refresh} onGone={() => rows.select([])} />}
      <PipelineButton runIds={runIds} isOpen={isPipelineOpen} onOpenChange={setPipelineOpen} />
      <Button quiet label="Clear the selection" onClick={() => rows.select([])}>
        <X size={14} aria-hidden />
      </Button>
    </>
  );
}
