import { useNavigate } from "@tanstack/react-router";
import { Button } from "../../widgets/button.tsx";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { X } from "../../widgets/icons/icons.ts";
import { Name } from "../../widgets/name.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import { brushWords } from "./columns/brush-words.ts";
import styles from "./explore.module.css";
import type { ExploreViewProps } from "./explore-view.ts";

/** How many runs remain, the filters, and actions. */
export function FilterBar({
  total,
  view,
}: {
  /** How many match the query. */
  total: number;
  view: ExploreViewProps;
}) {
  const { namespace, table, brushes, remaining, asked, onBrush } = view;
  const navigate = useNavigate();
  const fields = Object.keys(brushes).filter((text) => table.column(text) !== undefined);
  const problem = "problem" in asked ? asked.problem : undefined;
  const read = table.runs.length;
  return (
    <div className={styles.filters}>
      <span role="status" aria-label="Runs that remain" className={styles.remaining}>
        {fields.length === 0
          ? countOf(read, "run")
          : `${formatCount(remaining)} of ${formatCount(read)} runs remain`}
      </span>
      {total > read && (
        <span className={styles.warn}>
          the first of {formatCount(total)} are drawn; importance and the frontier are of all
        </span>
      )}
      {fields.map((text) => {
        const column = table.column(text)!;
        return (
          <span key={text} className={styles.chip}>
            <Name text={`${column.label}: ${brushWords(column, brushes[text]!)}`} />
            <button
              type="button"
              aria-label={`Remove the filter by ${visibleText(column.label)}`}
              onClick={() => onBrush({ [text]: undefined })}
            >
              <X size={12} aria-hidden />
            </button>
          </span>
        );
      })}
      {fields.length > 1 && (
        <Button quiet onClick={() => onBrush(Object.fromEntries(fields.map((text) => [text, undefined])))}>
          Clear filters
        </Button>
      )}
      <span className={styles.space} />
      {problem !== undefined && <span className={styles.warn}>{visibleText(problem)}</span>}
      <Button
        disabled={problem !== undefined}
        onClick={() => {
          if (!("query" in asked)) return;
          void navigate({
            to: "/n/$",
            params: { _splat: namespace },
            search: asked.query === "" ? {} : { q: asked.query },
          });
        }}
      >
        {fields.length === 0 ? "Show in the table" : "Use as query"}
      </Button>
    </div>
  );
}
