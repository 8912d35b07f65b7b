import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState, type KeyboardEvent } from "react";
import { formatCount } from "#lang/words/numbers.ts";
import { CopyButton } from "../copy-button.tsx";
import { ChevronDown, ChevronRight } from "../icons/icons.ts";
import { Dialog } from "../popups/dialog.tsx";
import styles from "./json-tree.module.css";
import { PlainText } from "./plain-text.tsx";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { treeRows, type TreeNode, type TreeRow } from "./tree-rows.ts";

const ROW_PX = 24;
const INDENT_PX = 16;
const SHOWN_MAX = 300;
/** A longer text gets a button that shows all of it. */
const LONG = 100;

interface JsonTreeProps {
  tree: TreeNode;
  search?: string;
  label: string;
  rowsMax?: number;
}

/** Names and values as a tree that folds, smooth with tens of thousands of them. Keys as in any tree: up, down, left, right, Home, End. */
export function JsonTree({ tree, search = "", label, rowsMax = 18 }: JsonTreeProps) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(0);
  const [whole, setWhole] = useState<TreeNode>();
  const box = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => treeRows(tree, toggled, search), [tree, toggled, search]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  const isFlat = tree.children?.every(({ children }) => children === undefined) === true;
  const focused = Math.min(at, rows.length - 1);
  const toggle = ({ node: { path, children } }: TreeRow) => {
    if (children !== undefined) setToggled((before) => before.symmetricDifference(new Set([path])));
  };
  const go = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setAt(next);
    virtual.scrollToIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[focused];
    if (row === undefined || event.target !== event.currentTarget) return;
    const isBranch = row.node.children !== undefined;
    const place = { ArrowDown: focused + 1, ArrowUp: focused - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (place !== undefined) go(place);
    else if (event.key === "ArrowRight") {
      if (isBranch && !row.isOpen) toggle(row);
      else go(focused + 1);
    } else if (event.key === "ArrowLeft") {
      if (isBranch && row.isOpen) toggle(row);
      else go(rows.findLastIndex(({ depth }, i) => i < focused && depth < row.depth));
    } else if (event.key === "Enter" || event.key === " ") {
      if (isBranch) toggle(row);
      else setWhole(row.node);
    } else return;
    event.preventDefault();
  };
  if (rows.length === 0) return <p className={styles.none}>No matches for “{visibleText(search)}”.</p>;
  return (
    <>
      <div
        ref={box}
        className={styles.tree}
        role="tree"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={rowId(label, focused)}
        onKeyDown={onKeyDown}
        style={{ height: Math.min(rows.length, rowsMax) * ROW_PX }}
      >
        <div style={{ height: virtual.getTotalSize(), position: "relative" }} role="presentation">
          {virtual.getVirtualItems().map(({ index, start }) => (
            <Row
              key={rows[index]!.node.path}
              id={rowId(label, index)}
              row={rows[index]!}
              isFlat={isFlat}
              top={start}
              isFocused={index === focused}
              onClick={() => {
                setAt(index);
                toggle(rows[index]!);
              }}
              onWhole={() => setWhole(rows[index]!.node)}
            />
          ))}
        </div>
      </div>
      {whole !== undefined && <WholeValue node={whole} onClose={() => setWhole(undefined)} />}
    </>
  );
}

function rowId(label: string, index: number): string {
  return `${label.replaceAll(/\W/g, "-")}-row-${index}`;
}

function Row({
  id,
  row,
  isFlat,
  top,
  isFocused,
  onClick,
  onWhole,
}: {
  id: string;
  row: TreeRow;
  /** Without branches no room for arrows is needed. */
  isFlat: boolean;
  top: number;
  isFocused: boolean;
  onClick: () => void;
  onWhole: () => void;
}) {
  const { node, depth, isOpen } = row;
  const isBranch = node.children !== undefined;
  const Arrow = isOpen ? ChevronDown : ChevronRight;
  const text = node.text ?? "";
  return (
    <div
      id={id}
      className={isFocused ? `${styles.row} ${styles.focused}` : styles.row}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isFocused}
      {...(isBranch && { "aria-expanded": isOpen })}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onClick}
    >
      <span
        className={styles.name}
        style={{ paddingLeft: depth * INDENT_PX }}
        title={visibleText(cutText(node.name, SHOWN_MAX))}
      >
        {!isFlat && <span className={styles.arrow}>{isBranch && <Arrow size={14} aria-hidden />}</span>}
        <bdi>{visibleText(cutText(node.name, SHOWN_MAX))}</bdi>
      </span>
      {isBranch ? (
        <span className={styles.count}>{formatCount(node.leaves)}</span>
      ) : (
        <span className={styles.value} title={visibleText(cutText(text, SHOWN_MAX))}>
          <bdi>{visibleText(cutText(text, SHOWN_MAX))}</bdi>
        </span>
      )}
      {text.length > LONG && (
        <button
          type="button"
          className={styles.whole}
          tabIndex={-1}
          onClick={(event) => {
            event.stopPropagation();
            onWhole();
          }}
        >
          all {formatCount(text.length)} characters
        </button>
      )}
    </div>
  );
}

function WholeValue({ node, onClose }: { node: TreeNode; onClose: () => void }) {
  const text = node.text ?? "";
  return (
    <Dialog
      title={visibleText(cutText(node.name, SHOWN_MAX))}
      open
      onClose={onClose}
      wide
      actions={<CopyButton text={text}>Copy</CopyButton>}
    >
      <PlainText text={text} />
    </Dialog>
  );
}
