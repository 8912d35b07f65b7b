import { useState } from "react";
import { Failure } from "#sdk/failure.ts";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { Dialog } from "../../widgets/popups/dialog.tsx";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { TextField } from "../../widgets/fields/text-field.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import { inBulk, type BulkResult } from "./in-bulk.ts";
import styles from "./runs-page.module.css";

interface BulkActionsProps {
  runIds: readonly string[];
  /** Called when runs of the table have changed. */
  onDone: () => void;
  onGone: () => void;
}

const TRASH = {
  word: "moved to the trash",
  act: (id: string) => cairn.runs.deleteRun({ run: { id } }),
};
const RESTORE = {
  word: "restored",
  act: (id: string) => cairn.runs.restoreRun({ run: { id } }),
};

/** Actions on many runs: tag them, or move them to the trash and restore them. */
export function BulkActions({ runIds, onDone, onGone }: BulkActionsProps) {
  const [open, setOpen] = useState<"tag" | "delete">();
  const [work, setWork] = useState<{ done: number; total: number; stop: AbortController }>();
  const [result, setResult] = useState<BulkResult & { word: string; ids: readonly string[]; left: number }>();
  const count = countOf(runIds.length, "run");

  const start = async (ids: readonly string[], word: string, act: (id: string) => Promise<unknown>) => {
    const stop = new AbortController();
    const progress = (done: number) => setWork({ done, total: ids.length, stop });
    progress(0);
    const outcome = await inBulk(ids, act, progress, stop.signal);
    setWork(undefined);
    const left = ids.length - outcome.done.length - outcome.failed.length;
    setResult({ ...outcome, word, ids: outcome.done, left });
    onDone();
  };
  const close = () => {
    const isGone = result?.word === TRASH.word;
    setOpen(undefined);
    setResult(undefined);
    if (isGone) onGone();
  };
  return (
    <>
      <Button onClick={() => setOpen("tag")}>Tag</Button>
      <Button onClick={() => setOpen("delete")}>Delete</Button>
      <Dialog
        title={open === "tag" ? `Tag ${count}` : `Delete ${count}`}
        open={open !== undefined}
        onClose={() => {
          if (work === undefined) close();
        }}
      >
        {work !== undefined ? (
          <>
            <p role="status">
              <progress
                className={styles.progress}
                value={work.done}
                max={work.total}
                aria-label="Progress"
              />{" "}
              {formatCount(work.done)} of {formatCount(work.total)}
            </p>
            <Button onClick={() => work.stop.abort()}>Stop</Button>
          </>
        ) : result !== undefined ? (
          <Outcome
            result={result}
            onUndo={
              result.word === TRASH.word ? () => void start(result.ids, RESTORE.word, RESTORE.act) : undefined
            }
            onClose={close}
          />
        ) : open === "tag" ? (
          <TagForm
            onTag={(key, value) =>
              void start(runIds, "tagged", (id) =>
                cairn.runs.updateRun(
                  value === "" ? { run: { id }, removeTags: [key] } : { run: { id }, tags: { [key]: value } },
                ),
              )
            }
          />
        ) : (
          <>
            <p>
              They are moved to the trash with their points, logs and files, and can be restored from there.
            </p>
            <Button primary onClick={() => void start(runIds, TRASH.word, TRASH.act)}>
              Delete {count}
            </Button>
          </>
        )}
      </Dialog>
    </>
  );
}

function TagForm({ onTag }: { onTag: (key: string, value: string) => void }) {
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim() !== "") onTag(key.trim(), value);
      }}
    >
      <TextField label="Tag" value={key} onChange={setKey} placeholder="team" />
      <TextField label="Value" value={value} onChange={setValue} hint="Empty removes the tag." />
      <Button primary type="submit" disabled={key.trim() === ""}>
        {value === "" ? "Remove the tag" : "Set the tag"}
      </Button>
    </form>
  );
}

function Outcome({
  result,
  onUndo,
  onClose,
}: {
  result: BulkResult & { word: string; left: number };
  onUndo: (() => void) | undefined;
  onClose: () => void;
}) {
  const { done, failed, word, left } = result;
  const first = failed[0];
  return (
    <div role="status">
      <p>
        {countOf(done.length, "run was", "runs were")} {word}.
        {left > 0 && ` ${formatCount(left)} were not changed.`}
      </p>
      {first !== undefined && (
        <p className={styles.bad}>
          {formatCount(failed.length)} failed: {visibleText(Failure.from(first.error).message)}
        </p>
      )}
      <div className={styles.buttons}>
        {onUndo !== undefined && done.length > 0 && <Button onClick={onUndo}>Undo</Button>}
        <Button primary onClick={onClose}>
          Close
        </Button>
      </div>
    </div>
  );
}
