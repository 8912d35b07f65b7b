import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { runById } from "../../data/queries.ts";
import { Button } from "../../widgets/button.tsx";
import { Dialog } from "../../widgets/popups/dialog.tsx";
import { Select } from "../../widgets/fields/select.tsx";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { PipelineView } from "./pipeline-view.tsx";
import { shortId } from "#sdk/run-facts.ts";

const CHOICES_MAX = 50;
const NAME_MAX = 60;

/** The pipeline of a run, or of the chosen one of several. */
export function PipelineDialog({ runIds, onClose }: { runIds: readonly string[]; onClose: () => void }) {
  const offered = runIds.slice(0, CHOICES_MAX);
  const [chosen, setChosen] = useState(offered[0]!);
  const runs = useQueries({ queries: offered.length > 1 ? offered.map(runById) : [] });
  const choices = offered.map((id, i) => ({
    value: id,
    label: cutText(visibleText(runs[i]?.data?.name ?? shortId(id)), NAME_MAX),
  }));
  return (
    <Dialog
      title="Provenance pipeline"
      open
      onClose={onClose}
      wide
      actions={<Button onClick={onClose}>Close</Button>}
    >
      {offered.length > 1 && <Select label="Run" value={chosen} choices={choices} onChange={setChosen} />}
      <PipelineView runId={chosen} onLeave={onClose} />
    </Dialog>
  );
}
