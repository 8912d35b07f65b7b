/** Texts that are small to send and large to show. Each would block a page for seconds, or for ever, if it were prepared without a limit. */
export interface HostileText {
  content: string;
  /** How it is shown in the end: as text with the reason, or formatted. */
  as: "reason" | "frame" | "table" | "tree" | RegExp;
}
export interface HostileFile extends HostileText {
  name: string;
  mediaType: string;
}

const MB = 1_000_000;

export const HOSTILE_NOTES: Readonly<Record<string, HostileText>> = {
  "5,000 quotes in each other": { content: ">".repeat(5_000), as: "reason" },
  "20 kB of emphasis that never ends": { content: "*a_".repeat(7_000), as: "reason" },
  "200 kB of links that never end": { content: "[a](".repeat(50_000), as: /\[a\]\(/ },
  "lists 1,000 deep": {
    content: Array.from({ length: 1_000 }, (_, i) => `${"  ".repeat(i)}- a`).join("\n"),
    as: "reason",
  },
  "a table of 100,000 cells": {
    content: `|${"a|".repeat(100)}\n|${"-|".repeat(100)}\n${`|${"b|".repeat(100)}\n`.repeat(1_000)}`,
    as: "reason",
  },
  "1 MB of words": { content: "word *word* ".repeat(MB / 12), as: "reason" },
  "100,000 marks on a letter": { content: `a${"\u0301".repeat(100_000)}`, as: /99984 more marks/ },
};

export const HOSTILE_FILES: readonly HostileFile[] = [
  html("tables-in-tables.html", "reason", "<table><tr><td>".repeat(MB / 15)),
  html("bold-in-bold.html", "reason", "<b>".repeat(MB / 3)),
  // A few thousand tags, of which HTML makes millions of elements.
  html(
    "bold-again-and-again.html",
    "frame",
    `<p>${Array.from({ length: 80 }, (_, i) => `<b id=${i}>`).join("")}${"<p>x</p>".repeat(9_000)}`,
  ),
  html("scripts-without-end.html", "frame", "<script>".repeat(MB / 8)),
  html("tags-without-end.html", "frame", "<a".repeat(MB / 2)),
  html("styles-without-end.html", "reason", `<style>${"url( ".repeat(40_000)}</style>`),
  html("many-rows.html", "reason", `<table>${"<tr><td>1<td>2".repeat(70_000)}`),
  json("deep.json", "reason", "[".repeat(MB / 2) + "]".repeat(MB / 2)),
  json("wide.json", "reason", `[${"1,".repeat(MB / 2 - 2)}1]`),
  json("long-name.json", "tree", `{"${"n".repeat(MB - 1_000)}": [${"{},".repeat(199)}{}]}`),
  json("long-string.json", "tree", `["${"s".repeat(MB - 10)}"]`),
  {
    name: "cells.csv",
    mediaType: "text/csv",
    as: "table",
    content: `${"1,".repeat(99)}1\n`.repeat(MB / 200),
  },
  { name: "one-line.csv", mediaType: "text/csv", as: "table", content: "1,".repeat(MB / 2) },
  { name: "quotes.csv", mediaType: "text/csv", as: "table", content: '"'.repeat(MB) },
  { name: "one-line.txt", mediaType: "text/plain", as: /aaaa/, content: "a".repeat(5 * MB) },
  { name: "unseen.txt", mediaType: "text/plain", as: /⟨U\+202E⟩/, content: "\u202e".repeat(MB / 3) },
  { name: "accents.txt", mediaType: "text/plain", as: /more marks/, content: `a${"\u0301".repeat(MB / 3)}` },
  svg(
    "copies.svg",
    Array.from({ length: 7 }, (_, i) => `<g id="g${i + 1}">${`<use href="#g${i}"/>`.repeat(10)}</g>`).join(
      "",
    ),
  ),
  svg(
    "patterns.svg",
    Array.from(
      { length: 8 },
      (_, i) =>
        `<pattern id="p${i + 1}" width="3" height="3" patternUnits="userSpaceOnUse">` +
        `${`<rect width="99" height="99" fill="url(#p${i})"/>`.repeat(10)}</pattern>`,
    ).join("") + `<rect width="99" height="99" fill="url(#p8)"/>`,
  ),
  svg("shapes.svg", '<path d="M0 0h9"/>'.repeat(50_000)),
  { name: "deep.md", mediaType: "text/markdown", as: "reason", content: "> ".repeat(MB / 2) },
];

function html(name: string, as: HostileText["as"], content: string): HostileFile {
  return { name, mediaType: "text/html", as, content };
}

function json(name: string, as: HostileText["as"], content: string): HostileFile {
  return { name, mediaType: "application/json", as, content };
}

function svg(name: string, shapes: string): HostileFile {
  const content = `<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"><rect id="g0" width="1" height="1"/>${shapes}</svg>`;
  return { name, mediaType: "image/svg+xml", as: "reason", content };
}
