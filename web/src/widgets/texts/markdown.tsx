import { createElement, type ReactNode } from "react";
import type { MarkupNode } from "../../prepare/prepared.ts";
import { usePrepared } from "../../prepare/use-prepared.ts";
import styles from "./markdown.module.css";
import { PlainText } from "./plain-text.tsx";

/** Formatted Markdown of users, made of elements and never of markup. Too large texts are shown as plain text. */
export function Markdown({ text }: { text: string }) {
  const outcome = usePrepared("markdown", text);
  if (outcome !== undefined && "refused" in outcome)
    return <PlainText text={text} refused={outcome.refused} />;
  return (
    <div className={styles.markdown} aria-busy={outcome === undefined}>
      {outcome?.value.map(element)}
    </div>
  );
}

/** A link opens in a new tab, without a referrer. */
const LINK = { target: "_blank", rel: "noopener noreferrer nofollow" };

function element(node: MarkupNode, place: number): ReactNode {
  if (typeof node === "string") return node;
  const { tag, attributes, children } = node;
  const props = { key: place, ...attributes, ...(tag === "a" && LINK) };
  return children.length === 0 ? createElement(tag, props) : createElement(tag, props, children.map(element));
}
