import { useMemo } from "react";
import { formatBytes } from "#lang/words/numbers.ts";
import { JsonTree } from "../../widgets/texts/json-tree.tsx";
import { Markdown } from "../../widgets/texts/markdown.tsx";
import { PlainText } from "../../widgets/texts/plain-text.tsx";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { readTree } from "../../widgets/texts/tree-rows.ts";
import { TEXT_BYTES_MAX, type PreviewKind } from "./artifact-preview-kind.ts";
import styles from "./artifact-preview.module.css";
import { HtmlPreview } from "./html-preview.tsx";
import { parseCsv } from "./parse-csv.ts";
import { SvgPreview } from "./svg-preview.tsx";

/** Cut as text, because browsers take seconds to clip thousands of cells. */
const CELL_MAX = 48;
const CELL_TITLE_MAX = 1_000;
const TREE_ROWS = 24;

/** A text as a tree, a table, a page, a picture, or as plain text. */
export function TextPreview({
  kind,
  text,
  name,
  isCut,
  sizeBytes,
}: {
  kind: PreviewKind;
  text: string;
  name: string;
  isCut: boolean;
  sizeBytes: number;
}) {
  return (
    <>
      {isCut && (
        <p className={styles.warning}>
          The first {formatBytes(TEXT_BYTES_MAX)} of {formatBytes(sizeBytes)}.
        </p>
      )}
      {kind === "svg" ? (
        <SvgPreview text={text} name={name} />
      ) : (
        <Shown kind={kind} text={text} isCut={isCut} />
      )}
    </>
  );
}

function Shown({ kind, text, isCut }: { kind: PreviewKind; text: string; isCut: boolean }) {
  if (kind === "json" && !isCut) return <JsonPreview text={text} />;
  if (kind === "csv") return <CsvPreview text={text} />;
  if (kind === "markdown") return <Markdown text={text} />;
  if (kind === "html") return <HtmlPreview text={text} />;
  return <PlainText text={text} />;
}

function JsonPreview({ text }: { text: string }) {
  const read = useMemo(() => readTree(text), [text]);
  if ("refused" in read) return <PlainText text={text} {...(read.refused !== "broken" && read)} />;
  const tree = read.value;
  if (tree.children === undefined) return <PlainText text={text} />;
  return <JsonTree tree={tree} label="Content" rowsMax={TREE_ROWS} />;
}

function CsvPreview({ text }: { text: string }) {
  const { head, rows, isCut } = useMemo(() => parseCsv(text), [text]);
  return (
    <div className={styles.tableBox} tabIndex={0} role="group" aria-label="Table">
      <table className={styles.table}>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col" title={cellTitle(cell)}>
                {visibleText(cutText(cell, CELL_MAX))}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j} title={cellTitle(cell)}>
                  {visibleText(cutText(cell, CELL_MAX))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isCut && <p className={styles.quiet}>Download it to see all.</p>}
    </div>
  );
}

/** The text of a long cell, as long as a title may be. */
function cellTitle(cell: string): string | undefined {
  return cell.length > CELL_MAX ? visibleText(cutText(cell, CELL_TITLE_MAX)) : undefined;
}
