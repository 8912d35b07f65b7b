import { betterWords } from "#lang/words/directions.ts";
import { colourAt, PALETTE_SIZE } from "../../../charts/paint/palette.ts";
import { Button } from "../../../widgets/button.tsx";
import { Name } from "../../../widgets/name.tsx";
import { Select } from "../../../widgets/fields/select.tsx";
import { ColourLegend } from "../colour-legend.tsx";
import type { ExploredColumn } from "../columns/explored-column.ts";
import styles from "../explore.module.css";
import type { ExploreViewProps } from "../explore-view.ts";
import { FieldPicker } from "../field-picker.tsx";
import type { Goal } from "../search.ts";
import type { ScatterFields } from "./scatter-fields.ts";

const WAYS: readonly { value: Goal | "none"; label: string }[] = [
  { value: "min", label: betterWords("min") },
  { value: "max", label: betterWords("max") },
  { value: "none", label: "no direction" },
];

/** The pickers and the legend of the scatter. */
export function ScatterTools({
  listed,
  known,
  search,
  objective,
  dark,
  onSearch,
  fields,
}: ExploreViewProps & { fields: ScatterFields }) {
  const { x, y, colour, size, goals } = fields;
  const pick = { listed, known };
  return (
    <>
      <div className={styles.tools}>
        <FieldPicker
          {...pick}
          label="X"
          value={x?.text}
          onChange={(text) => onSearch({ x: text, goalx: undefined })}
        />
        <Select
          label="Which way x is better"
          quiet
          value={goals[0] ?? "none"}
          choices={WAYS}
          onChange={(goalx) => onSearch({ goalx })}
        />
        <FieldPicker
          {...pick}
          label="Y"
          value={y?.text}
          onChange={(text) => onSearch({ y: text, goaly: undefined })}
        />
        <Select
          label="Which way y is better"
          quiet
          value={goals[1] ?? "none"}
          choices={WAYS}
          onChange={(goaly) => onSearch({ goaly })}
        />
        <FieldPicker
          {...pick}
          label="Colour"
          optional
          value={colour?.text}
          onChange={(text) => onSearch({ colour: text })}
        />
        <FieldPicker
          {...pick}
          label="Size"
          optional
          value={size?.text}
          onChange={(text) => onSearch({ size: text })}
        />
        <span className={styles.space} />
        <Button
          aria-pressed={search.table === true}
          onClick={() => onSearch({ table: search.table ? undefined : true })}
        >
          Figures
        </Button>
      </div>
      {colour !== undefined && (
        <ScatterLegend
          colour={colour}
          goal={fields.colourGoal}
          dark={dark}
          isJudged={colour.text === objective?.text}
        />
      )}
    </>
  );
}

function ScatterLegend({
  colour,
  goal,
  dark,
  isJudged,
}: {
  colour: ExploredColumn;
  goal: ScatterFields["colourGoal"];
  dark: boolean;
  isJudged: boolean;
}) {
  return (
    <div className={styles.legends}>
      {colour.kind === "category" ? (
        <CategoryLegend column={colour} dark={dark} />
      ) : colour.count > 0 ? (
        <ColourLegend column={colour} goal={goal} dark={dark} isJudged={isJudged} />
      ) : (
        <span className={styles.quiet}>No run has a number for the colour.</span>
      )}
    </div>
  );
}

const NAMED_MAX = PALETTE_SIZE - 1;

function CategoryLegend({ column, dark }: { column: ExploredColumn; dark: boolean }) {
  const others = column.categories.length - NAMED_MAX;
  return (
    <ul className={styles.keys} aria-label="Colours">
      {column.categories.slice(0, NAMED_MAX).map(({ key, label }, i) => (
        <li key={key}>
          <span className={styles.swatch} style={{ background: colourAt(i, dark) }} aria-hidden />
          <Name text={label} />
        </li>
      ))}
      {others > 0 && <li className={styles.quiet}>{others} more in gray</li>}
    </ul>
  );
}
