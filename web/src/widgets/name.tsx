import { cutText, visibleText } from "../prepare/visible-text.ts";
import styles from "./name.module.css";

const TITLE_LENGTH_MAX = 1_000;

/** A name of a run, a metric or a namespace: on one line, cut where there is no room, whole in its title. */
export function Name({ text, mono = false }: { text: string; mono?: boolean }) {
  const visible = visibleText(text);
  return (
    <span
      className={mono ? `${styles.name} ${styles.mono}` : styles.name}
      title={cutText(visible, TITLE_LENGTH_MAX)}
    >
      <bdi>{cutText(visible, TITLE_LENGTH_MAX)}</bdi>
    </span>
  );
}
