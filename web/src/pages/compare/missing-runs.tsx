import { X } from "lucide-react";
import { Failure } from "#sdk/failure.ts";
import { Button } from "../../widgets/button.tsx";
import { cutText, visibleText } from "../../widgets/text.ts";
import styles from "./compare-page.module.css";
import type { MissingRun } from "./use-comparison.ts";

const ID_LENGTH_MAX = 40;

/** Runs of the address that cannot be read, why, and a way to take them out. */
export function MissingRuns({
  missing,
  onRemove,
}: {
  missing: readonly MissingRun[];
  onRemove: (id: string) => void;
}) {
  if (missing.length === 0) return null;
  return (
    <div className={styles.strip} role="alert">
      {missing.map(({ id, error }) => {
        const { message, hint } = Failure.from(error, location.origin);
        const shown = cutText(visibleText(id), ID_LENGTH_MAX);
        const why = visibleText(hint === "" ? message : `${message} (${hint})`);
        return (
          <div key={id} className={styles.missing}>
            <span className={styles.why} title={why}>
              {why}
            </span>
            <Button quiet label={`Remove ${shown}`} onClick={() => onRemove(id)}>
              <X size={14} aria-hidden />
            </Button>
          </div>
        );
      })}
    </div>
  );
}
