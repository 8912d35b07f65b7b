import { Activity, Boxes, ChevronDown, FlaskConical, Route, RotateCw } from "lucide-react";
import { useState } from "react";
import { Button } from "../../widgets/button.tsx";
import { Dialog } from "../../widgets/dialog.tsx";
import { Menu, MenuItem, MenuLine } from "../../widgets/menu.tsx";
import { NotYet, type NotYetAction } from "./not-yet.tsx";
import { PipelineDialog } from "./pipeline-dialog.tsx";

type Action = NotYetAction | "pipeline";

const ICON_PX = 14;

/**
 * What can be done with runs: one, or those that are selected in a table. `pipeline` and `onPipeline` let a page keep in its address whether the pipeline is open.
 */
export function RunActions({
  runIds,
  pipeline,
  onPipeline,
}: {
  runIds: readonly string[];
  pipeline?: boolean;
  onPipeline?: (open: boolean) => void;
}) {
  const [chosen, setChosen] = useState<Action>();
  const open = pipeline === true ? "pipeline" : chosen;
  const choose = (action: Action | undefined) => {
    if (onPipeline !== undefined && (action === "pipeline" || pipeline === true))
      onPipeline(action === "pipeline");
    if (onPipeline === undefined || action !== "pipeline") setChosen(action);
  };
  const close = () => choose(undefined);
  return (
    <>
      <Menu
        align="end"
        trigger={
          <Button disabled={runIds.length === 0}>
            Actions <ChevronDown size={ICON_PX} aria-hidden />
          </Button>
        }
      >
        <MenuItem onClick={() => choose("tensorboard")}>
          <Activity size={ICON_PX} aria-hidden /> Examine in TensorBoard
        </MenuItem>
        <MenuItem onClick={() => choose("retrain")}>
          <RotateCw size={ICON_PX} aria-hidden /> Train with new data
        </MenuItem>
        <MenuItem onClick={() => choose("inference")}>
          <Boxes size={ICON_PX} aria-hidden /> Spawn inference cluster
        </MenuItem>
        <MenuItem onClick={() => choose("tests")}>
          <FlaskConical size={ICON_PX} aria-hidden /> Run tests
        </MenuItem>
        <MenuLine />
        <MenuItem onClick={() => choose("pipeline")}>
          <Route size={ICON_PX} aria-hidden /> Show provenance pipeline
        </MenuItem>
      </Menu>
      {open === "pipeline" && <PipelineDialog runIds={runIds} onClose={close} />}
      {open !== undefined && open !== "pipeline" && (
        <Dialog
          title={NotYet.titles[open]}
          open
          onClose={close}
          actions={<Button onClick={close}>Close</Button>}
        >
          <NotYet.Words action={open} runIds={runIds} />
        </Dialog>
      )}
    </>
  );
}
