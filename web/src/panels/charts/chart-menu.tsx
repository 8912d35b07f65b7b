import { useState } from "react";
import { Role } from "#proto/cairn/v1/access_pb.ts";
import { useHasRole } from "../../data/use-has-role.ts";
import { Button } from "../../widgets/button.tsx";
import { Ellipsis } from "../../widgets/icons/icons.ts";
import { Menu, MenuItem, MenuLine } from "../../widgets/popups/menu.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import { DescribeKey } from "./describe/describe-key.tsx";
import { exportCsv, exportPng, exportSvg, type ShownChart } from "./export-chart.ts";

/** Actions of one chart. */
export function ChartMenu(props: { shown: ShownChart; isTable: boolean; onTable: () => void }) {
  const { shown } = props;
  const { key, lines, view } = shown;
  const isEmpty = lines.every((line) => line.x.length === 0);
  const { namespace } = view;
  const [isDescribing, setDescribing] = useState(false);
  const mayDescribe = useHasRole(Role.WRITER, { namespace }) && namespace !== "";
  return (
    <>
      <Menu
        align="end"
        trigger={
          <Button quiet label={`More about ${visibleText(key)}`}>
            <Ellipsis size={16} aria-hidden />
          </Button>
        }
      >
        <MenuItem onClick={props.onTable} disabled={isEmpty}>
          {props.isTable ? "Show as a chart" : "Show as a table"}
        </MenuItem>
        <MenuItem
          onClick={() => view.onReset(key)}
          disabled={view.range === undefined && !view.yRanges.has(key)}
          hint="double click"
        >
          Show everything
        </MenuItem>
        <MenuLine />
        <MenuItem onClick={() => exportPng(shown)} disabled={isEmpty}>
          Save as PNG
        </MenuItem>
        <MenuItem onClick={() => exportSvg(shown)} disabled={isEmpty}>
          Save as SVG
        </MenuItem>
        <MenuItem onClick={() => exportCsv(shown)} disabled={isEmpty}>
          Save data as CSV
        </MenuItem>
        {mayDescribe && (
          <>
            <MenuLine />
            <MenuItem onClick={() => setDescribing(true)}>Describe …</MenuItem>
          </>
        )}
      </Menu>
      {isDescribing && (
        <DescribeKey
          namespace={namespace}
          metric={key}
          known={view.descriptions?.get(key)}
          onClose={() => setDescribing(false)}
        />
      )}
    </>
  );
}
