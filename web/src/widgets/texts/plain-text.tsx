import type { Refusal } from "../../prepare/prepared.ts";
import styles from "./plain-text.module.css";
import { cutText, visibleLines } from "../../prepare/visible-text.ts";

/** Longer texts must be downloaded, because a browser lays out every line at once. */
const LENGTH_MAX = 100_000;

const REASONS: Readonly<Record<Refusal, string>> = {
  large: "it is too large to be formatted",
  deep: "it is nested too deeply to be formatted",
  slow: "it takes too long to format",
  broken: "this browser could not format it. Reload the page to try again",
};

/** Plain text; `refused` is the reason why it is not formatted. */
export function PlainText({ text, refused }: { text: string; refused?: Refusal }) {
  // Invisible characters become longer escapes, so the shown text is measured.
  const shown = cutText(visibleLines(cutText(text, LENGTH_MAX)), LENGTH_MAX);
  return (
    <div className={styles.box}>
      {refused !== undefined && <p className={styles.reason}>Shown as text: {REASONS[refused]}.</p>}
      <pre
        className={refused === undefined ? styles.text : `${styles.text} ${styles.refused}`}
        tabIndex={0}
        aria-label="Content"
      >
        {shown}
      </pre>
      {text.length > LENGTH_MAX && <p className={styles.reason}>The rest is not shown.</p>}
    </div>
  );
}
