import { useMemo } from "react";
import { formatBytes } from "../../widgets/format.ts";
import { parseJsonNodes } from "../../widgets/json-nodes.ts";
import { JsonTree } from "../../widgets/json-tree.tsx";
import { Markdown } from "../../widgets/markdown.tsx";
import { sanitizeForFrame } from "../../widgets/sanitize.ts";
import { cutText, visibleLines, visibleText } from "../../widgets/text.ts";
import { treeOfJson } from "../../widgets/tree-rows.ts";
import { TEXT_BYTES_MAX, type PreviewKind } from "./artifact-preview-kind.ts";
import styles from "./artifacts.module.css";
import { frameDocument, STYLE_KEPT, styleRule, takeStyles } from "./page-styles.ts";
import { parseCsv } from "./parse-csv.ts";

const TEXT_SHOWN_MAX = 200_000;
const CELL_MAX = 200;
const TREE_ROWS = 24;

/** A text as a tree, a table, a page, or as it is. */
export function TextPreview({
  kind,
  text,
  isCut,
  sizeBytes,
}: {
  kind: PreviewKind;
  text: string;
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
      <Shown kind={kind} text={text} isCut={isCut} />
    </>
  );
}

function Shown({ kind, text, isCut }: { kind: PreviewKind; text: string; isCut: boolean }) {
  if (kind === "json" && !isCut) return <JsonPreview text={text} />;
  if (kind === "csv") return <CsvPreview text={text} />;
  if (kind === "markdown") return <Markdown text={text} />;
  if (kind === "html") return <HtmlPreview text={text} />;
  return <Plain text={text} />;
}

function Plain({ text }: { text: string }) {
  return (
    <pre className={styles.text} tabIndex={0} aria-label="Content">
      {visibleLines(cutText(text, TEXT_SHOWN_MAX))}
    </pre>
  );
}

function JsonPreview({ text }: { text: string }) {
  const tree = useMemo(() => {
    const node = parseJsonNodes(text);
    return node === undefined ? undefined : treeOfJson(node);
  }, [text]);
  if (tree === undefined || tree.children === undefined) return <Plain text={text} />;
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
              <th key={i} scope="col">
                {visibleText(cutText(cell, CELL_MAX))}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j}>{visibleText(cutText(cell, CELL_MAX))}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isCut && <p className={styles.quiet}>There is more: download it to see all.</p>}
    </div>
  );
}

/** A frame that may do nothing, with what is left when everything that runs or loads is taken out. */
function HtmlPreview({ text }: { text: string }) {
  const page = useMemo(() => styledPage(text), [text]);
  return (
    <>
      <p className={styles.quiet}>
        Shown without scripts and anything from elsewhere. Download it to see the page as it was meant.
      </p>
      <iframe
        className={styles.frame}
        sandbox=""
        srcDoc={page}
        title="Content of the page"
        referrerPolicy="no-referrer"
      />
    </>
  );
}

/** Its styles go by the nonce of our own page, whose policy the frame inherits; what they may load, the frame says itself. */
function styledPage(text: string): string {
  const { markup, sheet } = takeStyles(text);
  const body = sanitizeForFrame(markup, STYLE_KEPT);
  const rules = Array.from(body.querySelectorAll(`[${STYLE_KEPT}]`), (element, place) => {
    const declarations = element.getAttribute(STYLE_KEPT)!;
    element.setAttribute(STYLE_KEPT, String(place));
    return styleRule(place, declarations);
  });
  const nonce = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";
  return frameDocument(body.innerHTML, [sheet, ...rules].join("\n"), nonce);
}
