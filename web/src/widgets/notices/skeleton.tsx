import styles from "./skeleton.module.css";

/**
 * A placeholder of the same size for loading content, so that nothing jumps. It is visible only after a tenth of a
 * second.
 */
export function Skeleton({ lines = 1, height = 14 }: { lines?: number; height?: number }) {
  return (
    <span className={styles.skeleton} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} className={styles.line} style={{ height, width: `${92 - ((i * 29) % 40)}%` }} />
      ))}
    </span>
  );
}
