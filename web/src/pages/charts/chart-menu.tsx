import { Ellipsis } from "lucide-react";
import type { Line } from "../../charts/line.ts";
import { Button } from "../../widgets/button.tsx";
import { Menu, MenuItem, MenuLine } from "../../widgets/menu.tsx";
import { visibleText } from "../../widgets/text.ts";
import { exportCsv, exportPng, exportSvg } from "./export-chart.ts";
import type { PanelView } from "./panel-view.ts";

/** What can be done with one chart. */
export function ChartMenu(props: {
  name: string;
  lines: readonly Line[];
  view: PanelView;
  isTable: boolean;
  onTable: () => void;
}) {
  const { name, lines, view } = props;
  const isEmpty = lines.every((line) => line.x.length === 0);
  return (
    <Menu
      align="end"
      trigger={
        <Button quiet label={`More about ${visibleText(name)}`}>
          <Ellipsis size={16} aria-hidden />
        </Button>
      }
    >
      <MenuItem onClick={props.onTable} disabled={isEmpty}>
        {props.isTable ? "Show as a chart" : "Show as a table"}
      </MenuItem>
      <MenuItem
        onClick={() => view.onZoom(undefined)}
        disabled={view.range === undefined}
        hint="double click"
      >
        Show everything
      </MenuItem>
      <MenuLine />
      <MenuItem onClick={() => exportPng(name, lines, view)} disabled={isEmpty}>
        Save as PNG
      </MenuItem>
      <MenuItem onClick={() => exportSvg(name, lines, view)} disabled={isEmpty}>
        Save as SVG
      </MenuItem>
      <MenuItem onClick={() => exportCsv(name, lines, view)} disabled={isEmpty}>
        Save data as CSV
      </MenuItem>
    </Menu>
  );
}
