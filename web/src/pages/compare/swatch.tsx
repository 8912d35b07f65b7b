import { colourAt } from "../../charts/palette.ts";
import styles from "./compare-table.module.css";
import { useDark } from "./use-dark.ts";

/** The colour of a run. */
export function Swatch({ place }: { place: number }) {
  return <span className={styles.swatch} style={{ background: colourAt(place, useDark()) }} aria-hidden />;
}
