import { Select } from "../../widgets/select.tsx";
import type { KnownKeys } from "../runs/infer-keys.ts";
import styles from "./explore.module.css";
import { FieldPicker } from "./field-picker.tsx";
import type { Objective } from "./objective.ts";
import type { Goal } from "./pareto.ts";
import type { ExplorePatch } from "./search.ts";

const GOALS: readonly { value: Goal; label: string }[] = [
  { value: "min", label: "lower is better" },
  { value: "max", label: "higher is better" },
];

/** What runs are judged by on this page, and which way is better. */
export function ObjectivePicker({
  objective,
  known,
  onSearch,
}: {
  objective: Objective | undefined;
  known: KnownKeys | undefined;
  onSearch: (patch: ExplorePatch) => void;
}) {
  return (
    <div className={styles.objective}>
      <FieldPicker
        label="Objective"
        value={objective?.text}
        table={undefined}
        known={known}
        metricsOnly
        onChange={(text) => onSearch({ objective: text, goal: undefined })}
      />
      {objective !== undefined && (
        <Select
          label="Which way is better"
          quiet
          value={objective.goal}
          choices={GOALS}
          onChange={(goal) => onSearch({ goal })}
        />
      )}
    </div>
  );
}
