import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, type KeyboardEvent } from "react";
import { wordOf } from "#lang/words/enums.ts";
import { ArtifactKind, ArtifactPlace, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { EmptyState } from "../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { countOf, formatBytes } from "#lang/words/numbers.ts";
import { Name } from "../../widgets/name.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import { TextField } from "../../widgets/fields/text-field.tsx";
import { useTypedText } from "../../widgets/fields/typed-text.ts";
import { ArtifactPreview } from "../../panels/artifacts/artifact-preview.tsx";
import styles from "./artifacts.module.css";
import { artifactsOfRun } from "../../data/runs/run-queries.ts";
import type { RunSearch } from "./search.ts";

const route = getRouteApi("/r/$run");
const ROW_PX = 28;

/** The files of a run on the left, the chosen one on the right. */
export function ArtifactsTab({ run }: { run: Run }) {
  const { data, error, refetch } = useQuery(artifactsOfRun(run.id));
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const find = (search.files ?? "").toLowerCase();
  const rows = useMemo(
    () =>
      (data?.items ?? []).filter(
        ({ name, mediaType }) => find === "" || `${name} ${mediaType}`.toLowerCase().includes(find),
      ),
    [data, find],
  );
  const at = rows.findIndex(
    ({ name, step }) =>
      name === search.artifact && (step === undefined ? undefined : Number(step)) === search.step,
  );
  const chosen = rows[at];
  const set = (change: Partial<Record<keyof RunSearch, unknown>>) =>
    void navigate({
      resetScroll: false,
      search: (now) => ({ ...now, ...change }) as RunSearch,
      replace: true,
    });
  const field = useTypedText(search.files ?? "", (text) => set({ files: text === "" ? undefined : text }));
  const choose = ({ name, step }: Artifact) =>
    set({ artifact: name, step: step === undefined ? undefined : Number(step) });
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={10} />;
  if (data.items.length === 0) {
    return (
      <EmptyState title="No artifacts">
        Files, models and pictures that the run logs appear here, and references to those that are kept
        elsewhere.
      </EmptyState>
    );
  }
  const bytes = data.items.reduce(
    (sum, { place, sizeBytes }) => sum + (place === ArtifactPlace.STORED ? Number(sizeBytes ?? 0n) : 0),
    0,
  );
  return (
    <div className={styles.split}>
      <div className={styles.list}>
        <div className={styles.bar}>
          <TextField label="Find artifacts" quiet placeholder="Find artifacts" {...field} />
          <span className={styles.quiet}>
            {data.hasMore && "more than "}
            {countOf(data.items.length, "artifact")}, {formatBytes(bytes)} here
          </span>
        </div>
        {rows.length === 0 ? (
          <p className={styles.none}>No matches for “{visibleText(search.files ?? "")}”.</p>
        ) : (
          <ArtifactRows rows={rows} at={at} onChoose={choose} />
        )}
      </div>
      <div className={styles.preview}>
        {chosen === undefined ? (
          <EmptyState
            title={
              search.artifact === undefined
                ? "Select a file to preview it"
                : "This artifact does not exist any more"
            }
          />
        ) : (
          <ArtifactPreview key={`${chosen.name}\n${chosen.step}\n${chosen.sha256}`} artifact={chosen} />
        )}
      </div>
    </div>
  );
}

function ArtifactRows({
  rows,
  at,
  onChoose,
}: {
  rows: readonly Artifact[];
  at: number;
  onChoose: (artifact: Artifact) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const move = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 15,
      PageUp: -15,
      Home: -rows.length,
      End: rows.length,
    }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(rows.length - 1, at + move));
    onChoose(rows[next]!);
    virtual.scrollToIndex(next);
  };
  return (
    <div
      ref={box}
      className={styles.rows}
      role="listbox"
      aria-label="Artifacts"
      tabIndex={0}
      aria-activedescendant={at < 0 ? undefined : `artifact-${at}`}
      onKeyDown={onKeyDown}
    >
      <div style={{ height: virtual.getTotalSize(), position: "relative" }} role="presentation">
        {virtual.getVirtualItems().map(({ index, start }) => {
          const artifact = rows[index]!;
          return (
            <div
              key={index}
              id={`artifact-${index}`}
              className={index === at ? `${styles.row} ${styles.chosen}` : styles.row}
              role="option"
              aria-selected={index === at}
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => onChoose(artifact)}
            >
              <Name text={artifact.name} />
              <span className={styles.quiet}>
                {artifact.step === undefined ? "" : `step ${artifact.step}`}
              </span>
              <span className={styles.quiet}>{wordOf(ArtifactKind, artifact.kind)}</span>
              <span className={styles.size}>
                {artifact.place === ArtifactPlace.REFERENCE
                  ? "elsewhere"
                  : formatBytes(Number(artifact.sizeBytes ?? 0n))}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
