import { describe, expect, it } from "vitest";
import { markdownTree } from "./markdown-tree.ts";
import type { MarkupNode } from "./prepared.ts";

/** The tree on one line: `p(one strong(two))`. */
function drawn(nodes: readonly MarkupNode[]): string {
  return nodes
    .map((node) => {
      if (typeof node === "string") return node;
      const attributes = Object.entries(node.attributes ?? {}).map(([name, value]) => ` ${name}=${value}`);
      return `${node.tag}${attributes.join("")}(${drawn(node.children)})`;
    })
    .join("");
}

describe("Markdown as elements", () => {
  it.each([
    ["# Plan\n\ntext\nmore", "h1(Plan)p(textbr()more)"],
    ["**a** *b* ~~c~~ `<d>` \\*", "p(strong(a) em(b) del(c) code(<d>) *)"],
    ["- a\n- [x] b\n\n3. c", "ul(li(a)li(☑ b))ol start=3(li(c))"],
    ["> quote\n\n---\n\n```py\na < b\n```", "blockquote(p(quote))hr()pre(code(a < b\n))"],
    ["|a|b|\n|-|-|\n|1|**2**|", "table(thead(tr(th(a)th(b)))tbody(tr(td(1)td(strong(2)))))"],
    ["&eacute; &amp;lt; &#65; &nosuch;", "p(é &lt; A &nosuch;)"],
    ['[x](/n/a?b=1&amp;c=2 "t")', "p(a href=/n/a?b=1&c=2 title=t(x))"],
    ["![dot](data:image/png;base64,AA==)", "p(img src=data:image/png;base64,AA== alt=dot())"],
  ])("Z42 reads %j", (text, tree) => {
    expect(drawn(markdownTree(text))).toBe(tree);
  });

  it.each([
    ["a <img src=x onerror=x()> b", "p(a <img src=x onerror=x()> b)"],
    ["<script>x()</script>", "<script>x()</script>"],
    ["[x](javascript:x())", "p(a(x))"],
    ["[x](&#106;avascript:x())", "p(a(x))"],
    ["[x](//elsewhere)", "p(a(x))"],
    ["[x](data:text/html,x)", "p(a(x))"],
    ["![p](http://elsewhere/p.png)", "p([picture: p])"],
    ["![](data:image/svg+xml,x)", "p([picture: data:image/svg+xml,x])"],
  ])("Z84 makes no active content from %j", (text, tree) => {
    expect(drawn(markdownTree(text))).toBe(tree);
  });

  it.each([
    ["quotes in quotes", `${"> ".repeat(150)}a`, "deep"],
    ["more quotes than a stack holds", ">".repeat(5_000), "deep"],
    ["lists in lists", Array.from({ length: 150 }, (_, i) => `${"  ".repeat(i)}- a`).join("\n"), "deep"],
    ["a long text", "a\n".repeat(200_000), "large"],
    ["many elements", "*a* ".repeat(10_001), "large"],
    ["many cells", `|a|\n|-|\n${"|b|\n".repeat(10_000)}`, "large"],
  ])("Z99 refuses %s", (_title, text, refusal) => {
    expect(() => markdownTree(text)).toThrow(`too ${refusal}`);
  });

  it("Z99 accepts usual texts, and merges many tokens into one text", () => {
    expect(drawn(markdownTree("> ".repeat(20) + "a"))).toContain("blockquote(p(a))");
    expect(markdownTree("\\*".repeat(50_000))).toEqual([
      { tag: "p", attributes: {}, children: ["*".repeat(50_000)] },
    ]);
  });
});
