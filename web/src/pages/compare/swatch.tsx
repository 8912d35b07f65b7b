import { colourAt } from "../../charts/paint/palette.ts";
import styles from "./differences/compare-table.module.css";
import { useDark } from "../../widgets/theme.ts";

/** The colour of a run. */
export function Swatch({ place }: { place: number }) {
  return <span className={styles.swatch} style={{ background: colourAt(place, useDark()) }} aria-hidden />;
}
