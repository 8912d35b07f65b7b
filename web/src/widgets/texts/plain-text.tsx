import type { Refusal } from "../../prepare/prepared.ts";
import styles from "./plain-text.module.css";
import { cutText, visibleLines } from "../../prepare/visible-text.ts";

/** More of it is for download: a browser lays out every line of it at once. */
const LENGTH_MAX = 100_000;

const REASONS: Readonly<Record<Refusal, string>> = {
  large: "it is too large to be formatted",
  deep: "it is nested too deeply to be formatted",
  slow: "it takes too long to format",
  broken: "this browser could not format it. Reload the page to try again",
};

/** Text as it is; with `refused`, why it is not shown as what it was meant to be. */
export function PlainText({ text, refused }: { text: string; refused?: Refusal }) {
  // Characters that cannot be seen become several that can: what counts is what is shown.
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
      {text.length > LENGTH_MAX && <p className={styles.reason}>The rest is too long to be shown.</p>}
    </div>
  );
}
