import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { startUs } from "#sdk/run-facts.ts";
import { useDark } from "../../widgets/theme.ts";
import { colourAt } from "../../charts/paint/palette.ts";
import { ChartsPanel } from "../../panels/charts/charts-panel.tsx";
import type { ChartSearch, ChartSearchPatch } from "../../panels/charts/search.ts";
import styles from "./run.module.css";
import type { RunSearch } from "./search.ts";

const route = getRouteApi("/r/$run");

/** All metrics of the run. `given` is used where the address has no value. */
export function ChartsTab({ run, given }: { run: Run; given?: ChartSearch }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const dark = useDark();
  const { id, name, namespace } = run;
  const start = startUs(run);
  const runs = useMemo(
    () => [{ id, name, colour: colourAt(0, dark), dash: [], startUs: start }],
    [id, name, dark, start],
  );
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
