import { Marked } from "marked";
import { useMemo } from "react";
import styles from "./markdown.module.css";
import { sanitize } from "./sanitize.ts";

const LENGTH_MAX = 200_000;
const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  // Markup inside of Markdown is shown as it was typed: nobody needs it, and a browser never gets to see a handler in it.
  renderer: { html: ({ text }) => escaped(text) },
});

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Text of people as they meant it. The only place where markup is made of text; see sanitize.ts for what is left of it. */
export function Markdown({ text }: { text: string }) {
  const markup = useMemo(() => sanitize(marked.parse(text.slice(0, LENGTH_MAX), { async: false })), [text]);
  return (
    <>
      <div className={styles.markdown} dangerouslySetInnerHTML={{ __html: markup }} />
      {text.length > LENGTH_MAX && <p className={styles.cut}>The rest is too long to be shown.</p>}
    </>
  );
}
