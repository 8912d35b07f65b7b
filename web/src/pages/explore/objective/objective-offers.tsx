import { Button } from "../../../widgets/button.tsx";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { Name } from "../../../widgets/name.tsx";
import { printField } from "#lang/query/field-text.ts";
import type { ExploreViewProps } from "../explore-view.ts";
import { bestField } from "../../../data/runs/known-keys.ts";
import styles from "../pickers.module.css";

const OFFERED_MAX = 6;

/** Shown where an objective is required and none is set. */
export function ObjectiveOffers({ known, onSearch }: Pick<ExploreViewProps, "known" | "onSearch">) {
  const metrics = (known?.metrics ?? []).slice(0, OFFERED_MAX);
  return (
    <EmptyState title="An objective is required">
      <p>
        This namespace has no objective. Choose one for this page, or set it for all users with{" "}
        <code>cairn ns describe</code>.
      </p>
      {metrics.length === 0 ? (
        <p>No metric was logged in these runs.</p>
      ) : (
        <div className={styles.menuRow}>
          {metrics.map((key) => (
            <Button
              key={key}
              className={styles.picked}
              onClick={() =>
                onSearch({
                  objective: printField(bestField(key, known)),
                  goal: undefined,
                })
              }
            >
              <Name text={key} />
            </Button>
          ))}
        </div>
      )}
    </EmptyState>
  );
}
