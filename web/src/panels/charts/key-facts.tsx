import type { KeyDescription } from "#proto/cairn/v1/key_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { betterWords } from "#lang/words/directions.ts";
import { bestStat } from "#sdk/direction.ts";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import styles from "./charts.module.css";
import { drawingOf } from "./key-drawing.ts";

const ABOUT_MAX = 500;

/** Beside the name of a metric: which direction is better, and its unit; its description is the title. */
export function KeyFacts({ description }: { description: KeyDescription | undefined }) {
  const { unit, direction, about } = drawingOf(description);
  const better = betterWords(bestStat(direction));
  const title = [visibleText(cutText(about, ABOUT_MAX)), better].filter((each) => each !== "").join(" · ");
  if (unit === "" && title === "") return null;
  return (
    <span className={styles.unit} title={title || undefined}>
      {better !== "" && (
        <span role="img" aria-label={better}>
          {direction === Direction.MINIMIZE ? "↓" : "↑"}
        </span>
      )}
      {better !== "" && unit !== "" && " "}
      {visibleText(unit)}
    </span>
  );
}
