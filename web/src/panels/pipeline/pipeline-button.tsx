import { Button } from "../../widgets/button.tsx";
import { Route } from "../../widgets/icons/icons.ts";
import { PipelineDialog } from "./pipeline-dialog.tsx";

/** Shows the provenance pipeline of one run, or of those that are selected in a table. */
export function PipelineButton({
  runIds,
  isOpen,
  onOpenChange,
}: {
  runIds: readonly string[];
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  return (
    <>
      <Button onClick={() => onOpenChange(true)}>
        <Route size={14} aria-hidden /> Provenance pipeline
      </Button>
      {isOpen && <PipelineDialog runIds={runIds} onClose={() => onOpenChange(false)} />}
    </>
  );
}
