import { colourAt, dashAt, PALETTE_SIZE } from "../../../charts/paint/palette.ts";
import { Button } from "../../../widgets/button.tsx";
import { Name } from "../../../widgets/name.tsx";
import { Select } from "../../../widgets/fields/select.tsx";
import { findField, printField } from "#lang/query/field-text.ts";
import styles from "../explore.module.css";
import type { ExploreViewProps } from "../explore-view.ts";
import type { facetFields, FacetGrid } from "./facet-grid.ts";
import { FieldPicker } from "../field-picker.tsx";

const CELLS = [
  { value: "curves", label: "curves" },
  { value: "strips", label: "final values" },
] as const;

const PARTS = [
  ["cols", "Columns"],
  ["rows", "Rows"],
  ["hue", "Hue"],
  ["dash", "Dash"],
] as const;

/** The pickers for the parts of the grid, and the legend of its colours and dashes. */
export function FacetTools({
  listed,
  known,
  search,
  dark,
  onSearch,
  fields,
  metric,
  grid,
}: ExploreViewProps & {
  fields: ReturnType<typeof facetFields>;
  metric: string | undefined;
  grid: FacetGrid;
}) {
  const isStrips = search.cell === "strips";
  return (
    <>
      <div className={styles.tools}>
        {PARTS.filter(([name]) => name !== "dash" || !isStrips).map(([name, label]) => (
          <FieldPicker
            key={name}
            label={label}
            listed={listed}
            known={known}
            optional
            value={fields[name]}
            onChange={(text) => onSearch({ [name]: text })}
          />
        ))}
        <Select
          label="Cells show"
          value={isStrips ? "strips" : "curves"}
          choices={CELLS}
          onChange={(cell) => onSearch({ cell: cell === "strips" ? cell : undefined })}
        />
        {!isStrips && (
          <FieldPicker
            label="Metric"
            listed={undefined}
            known={known}
            metricsOnly
            value={metric === undefined ? undefined : printField({ of: "metric", key: metric, stat: "last" })}
            onChange={(text) => {
              const field = findField(text);
              if (field?.of === "metric") onSearch({ metric: field.key });
            }}
          />
        )}
        <span className={styles.space} />
        <Button
          aria-pressed={search.table === true}
          onClick={() => onSearch({ table: search.table ? undefined : true })}
        >
          Figures
        </Button>
      </div>
      {(grid.hue !== undefined || grid.dash !== undefined) && (
        <FacetLegend grid={grid} dark={dark} isStrips={isStrips} />
      )}
    </>
  );
}

function FacetLegend({ grid, dark, isStrips }: { grid: FacetGrid; dark: boolean; isStrips: boolean }) {
  return (
    <div className={styles.legends}>
      <ul className={styles.keys} aria-label="Colours and dashes">
        {grid.hue?.values.map(({ label }, i) => (
          <li key={`hue ${label}`}>
            <span className={styles.swatch} style={{ background: colourAt(i, dark) }} aria-hidden />
            <Name text={`${grid.hue!.label} ${label}`} />
          </li>
        ))}
        {!isStrips &&
          grid.dash?.values.map(({ label }, i) => (
            <li key={`dash ${label}`}>
              <svg width="26" height="10" aria-hidden>
                <line
                  x1="0"
                  y1="5"
                  x2="26"
                  y2="5"
                  stroke="currentColor"
                  strokeWidth="2"
                  strokeDasharray={dashAt(i * PALETTE_SIZE).join(" ")}
                />
              </svg>
              <Name text={`${grid.dash!.label} ${label}`} />
            </li>
          ))}
      </ul>
    </div>
  );
}
