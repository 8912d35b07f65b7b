import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { htmlPage } from "./html-page.ts";
import { EMPTY_TAGS, TAGS } from "./html-rules.ts";
import { frameDocument } from "./page-styles.ts";

describe("an HTML page of a user", () => {
  it.each([
    ['<p class="a" onclick=x()>x</p>', '<p class="a">x</p>'],
    ["<IMG SRC=x ALT='far' ONERROR=alert(1)>", "<span>[picture: far]</span>"],
    ['<img src="data:image/png;base64,AA">', '<img src="data:image/png;base64,AA"/>'],
    ['a<script title=">">if (1 < 2) x()</script >b<!-- <b> -->c<title>t</title>', "abc"],
    ["<p>one<p>two<div>three", "<p>one</p><p>two</p><div>three</div>"],
    ["<ul><li>a<li>b<ul><li>c</ul></ul>", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"],
    ["<table><tr><td>1<td></table></b>2", "<table><tr><td>1</td><td></td></tr></table>2"],
    ["<b><table><tr><td></b>x", "<b><table><tr><td>x</td></tr></table></b>"],
    ["<table><td><table></td></table>", "<table><td><table></table></td></table>"],
    ["1 < 2 &amp;&eacute;&nosuch; <form><p>kept", "1 &lt; 2 &amp;é&amp;nosuch; <p>kept</p>"],
    ['a\u0000\ud800"\ufffe', "a\ufffd\ufffd&quot;\ufffd"],
    ["a <b", "a "],
  ])("Z101 is serialized from known tags and attributes: %j", (page, markup) => {
    expect(htmlPage(page).markup).toBe(markup);
  });

  it.each([
    "<a href=javascript:x()>",
    "<a href='&#106;avascript:x()'>",
    "<a href=//elsewhere>",
    "<a href=data:text/html,x>",
  ])("Z84 has no link that runs code: %s", (page) => {
    expect(htmlPage(page).markup).toBe('<a target="_blank" rel="noopener noreferrer nofollow"></a>');
  });

  it("Z98 has one style sheet, which loads nothing and cannot end its element", () => {
    const { markup, sheet } = htmlPage(
      `<style>a { content: "</b>" }</style><p style="color:red">x<STYLE media='>'>@import "http://evil.example/a;b"; @IMPORT url(//evil.example);
       q { background: url( "http://evil.example/)" ) } r { background: URL(data:image/png;base64,AA) }</STYLE>`,
    );
    expect(markup).toBe('<p data-style="0">x</p>');
    expect(sheet).not.toContain("evil.example");
    expect(sheet).toContain("data:image/png;base64,AA");
    expect(sheet).toContain("[data-style=&quot;0&quot;]:not(#_):not(#_) { color:red }");
    expect(sheet).not.toContain("<");
    const page = frameDocument({ markup, sheet }, "abc");
    expect(page).toContain("default-src 'none'; style-src 'nonce-abc'; img-src data:");
    expectWellFormed(page.replace("<!DOCTYPE html>", ""));
  });

  it.each([
    ["elements in elements", "<b>".repeat(101), "deep"],
    ["tables in tables", "<table><tr><td>".repeat(40), "deep"],
    ["many elements", "<br>".repeat(10_001), "large"],
    ["a long text", "a".repeat(300_000), "large"],
    ["a long style sheet", `<style>${"a".repeat(300_000)}`, "large"],
  ])("Z99 refuses %s", (_title, page, refusal) => {
    expect(() => htmlPage(page)).toThrow(`too ${refusal}`);
  });

  it("Z99 reads a page in linear time, even with unclosed tags", () => {
    for (const part of ["<script>", "<a", "<a b='", "<!--", "</", "<style>", "<p =", "<a b ="])
      expect(() => htmlPage(part.repeat(100_000))).not.toThrow(RangeError);
  });

  it("Z101 is well-formed for any input", () => {
    const tags = [
      "b",
      "p",
      "div",
      "table",
      "tr",
      "td",
      "caption",
      "li",
      "ul",
      "a",
      "br",
      "script",
      "x:y",
      "dd",
    ];
    const piece = fc.oneof(
      fc.constantFrom(...tags).map((tag) => `<${tag}>`),
      fc.constantFrom(...tags).map((tag) => `</${tag}>`),
      fc.constantFrom(
        '<p id="',
        "<a href='x' id=<b>",
        "<!--",
        "-->",
        "<![CDATA[",
        "&lt;",
        "&#0;",
        "<p style=a>",
      ),
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.constantFrom("<", ">", '"', "'", "=", "/", "\u0000", "\ud800", "]]>"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const { markup, sheet } = htmlPage(pieces.join(""));
        expectWellFormed(`<div>${markup}</div><div>${sheet}</div>`);
      }),
    );
  });
});

/** Tags in order, known names, attributes in quotes, and nothing in between that XML does not allow. */
function expectWellFormed(markup: string): void {
  const open: string[] = [];
  const rest = markup.replaceAll(
    /<(\/?)([a-z0-9]+)((?: [a-z-]+="[^"<]*")*)(\/?)>/g,
    (_, end, name, attributes, empty) => {
      const names = Array.from(String(attributes).matchAll(/ ([a-z-]+)="[^"]*"/g), ([, one]) => one);
      expect(new Set(names).size).toBe(names.length);
      expect(TAGS.has(name) || ["html", "head", "body", "meta", "title", "style"].includes(name), name).toBe(
        true,
      );
      if (end === "/") expect(open.pop()).toBe(name);
      else if (empty === "") open.push(name);
      else expect(EMPTY_TAGS.has(name) || name === "meta", name).toBe(true);
      return "";
    },
  );
  expect(open).toEqual([]);
  expect(rest).not.toMatch(/[<>]|&(?!amp;|lt;|gt;|quot;)/);
  // oxlint-disable-next-line no-control-regex -- Those are the ones.
  expect(rest.isWellFormed() && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(rest)).toBe(
    true,
  );
}
