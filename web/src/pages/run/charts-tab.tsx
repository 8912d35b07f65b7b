import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useSyncExternalStore } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { isDark, onThemeChange } from "../../app/theme.ts";
import { colourAt } from "../../charts/palette.ts";
import { ChartsPanel } from "../charts/charts-panel.tsx";
import type { ChartSearch, ChartSearchPatch } from "../charts/search.ts";
import styles from "./run.module.css";
import type { RunSearch } from "./search.ts";

const route = getRouteApi("/r/$run");

/** All metrics of the run. `given` stands where the address says nothing. */
export function ChartsTab({ run, given }: { run: Run; given?: ChartSearch }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const dark = useSyncExternalStore(onThemeChange, isDark);
  const { id, name, namespace } = run;
  const runs = useMemo(() => [{ id, name, colour: colourAt(0, dark), dash: [] }], [id, name, dark]);
  const shown = useMemo(() => ({ ...given, ...search }), [given, search]);
  const onSearch = (patch: ChartSearchPatch, how: "push" | "replace" = "push") =>
    void navigate({
      resetScroll: false,
      search: (now) => ({ ...now, ...patch }) as RunSearch,
      replace: how === "replace",
    });
  return (
    <div className={styles.charts}>
      <ChartsPanel runs={runs} namespace={namespace} search={shown} onSearch={onSearch} />
    </div>
  );
}
