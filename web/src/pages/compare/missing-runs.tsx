import { Button } from "../../widgets/button.tsx";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { X } from "../../widgets/icons/icons.ts";
import styles from "./compare-page.module.css";

const ID_LENGTH_MAX = 40;

/** Runs of the address that cannot be read, and a way to take them out. */
export function MissingRuns({
  missing,
  onRemove,
}: {
  missing: readonly string[];
  onRemove: (id: string) => void;
}) {
  if (missing.length === 0) return null;
  return (
    <div className={styles.strip} role="alert">
      {missing.map((id) => {
        const shown = cutText(visibleText(id), ID_LENGTH_MAX);
        const why = `Cannot find run "${shown}": it does not exist, or you may not read it.`;
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
