import { useMemo, useState } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { CopyButton } from "../../../widgets/copy-button.tsx";
import { cutText, visibleLines } from "../../../prepare/visible-text.ts";
import { Button } from "../../../widgets/button.tsx";
import { Download } from "../../../widgets/icons/icons.ts";
import { Card } from "../card.tsx";
import { describePatch, readPatch } from "#lang/words/patch.ts";
import { PATCH_FILE } from "./provenance-parts.ts";
import styles from "./provenance.module.css";
import { useBlobUrl } from "../../../panels/artifacts/use-blob-url.ts";

const LINES_AT_FIRST = 400;
const LINES_MAX = 5_000;
const LINE_LENGTH_MAX = 2_000;

/** Uncommitted changes when the run began. */
export function PatchCard({ run }: { run: Run }) {
  const patch = run.provenance?.code?.dirtyPatch ?? "";
  const [most, setMost] = useState(LINES_AT_FIRST);
  const lines = useMemo(() => readPatch(patch.trimEnd()), [patch]);
  const url = useBlobUrl(patch === "" ? undefined : patch, "text/plain");
  if (patch === "") return null;
  return (
    <Card
      title="Uncommitted changes"
      count={describePatch(patch)}
      tools={
        <>
          <CopyButton text={patch} label="Copy the patch" />
          {url !== undefined && (
            <a
              href={url}
              download={PATCH_FILE}
              className={styles.download}
              aria-label="Download the patch"
              title="Download the patch"
            >
              <Download size={14} aria-hidden />
            </a>
          )}
        </>
      }
    >
      <pre className={styles.patch} tabIndex={0} aria-label="Patch">
        {lines.slice(0, most).map(({ text, kind }, i) => (
          <span key={i} className={`${styles.patchLine} ${styles[kind]}`}>
            {visibleLines(cutText(text, LINE_LENGTH_MAX))}
            {"\n"}
          </span>
        ))}
      </pre>
      {lines.length > most && most < LINES_MAX && (
        <Button onClick={() => setMost(LINES_MAX)} quiet>
          Show {Math.min(lines.length, LINES_MAX) - most} more lines
        </Button>
      )}
      {lines.length > most && most >= LINES_MAX && (
        <p className={styles.note}>The rest is in the download.</p>
      )}
    </Card>
  );
}
