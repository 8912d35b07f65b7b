import { describe, expect, it } from "vitest";
import { frameDocument, styleRule, takeStyles } from "./page-styles.ts";

describe("a page of a stranger", () => {
  it.each([
    ['<p style="color:red" class="a">x</p>', '<p data-style="color:red" class="a">x</p>'],
    ["<p STYLE=color:red>x</p>", "<p data-style=color:red>x</p>"],
    ["<img src=x onerror=alert(1)>", "<img src=x >"],
    ["<b ONCLICK='a > b' title=\"on fire = yes\">x</b>", '<b  title="on fire = yes">x</b>'],
    ["a<script>if (1 < 2) x()</script >b<style>p { color: red }</style>c", "abc"],
    ['a<script title=">">x()</script>b', "ab"],
    ["text about onclick=1 and style=2", "text about onclick=1 and style=2"],
  ])("Z43 loses what a browser would complain about, and keeps styles apart: %s", (page, left) => {
    expect(takeStyles(page).markup).toBe(left);
  });

  it("Z98 its style sheets are one", () => {
    const page = "<style>a { b: c }</style>x<STYLE media='>'>d { e: f }</STYLE>";
    expect(takeStyles(page)).toEqual({ markup: "x", sheet: "a { b: c }\nd { e: f }" });
  });

  it("Z98 its style sheet cannot end its element, and asks for nothing", () => {
    const sheet = `p::after { content: "</style><script>x()</script>" }
      @import "http://evil.example/a;b"; @IMPORT url(//evil.example);
      q { background: url( "http://evil.example/)" ) } r { background: URL(data:image/png;base64,AA) }`;
    const page = frameDocument("<p>text</p>", sheet, "abc");
    expect(page.match(/<\/style>/g)).toHaveLength(1);
    expect(page.indexOf("</style>")).toBe(page.indexOf("<body>") - "</style>".length);
    expect(page).not.toContain("evil.example");
    expect(page).toContain("data:image/png;base64,AA");
    expect(page).toContain(`default-src 'none'; style-src 'nonce-abc'; img-src data:`);
  });

  it("Z98 a style of an element is a rule for it", () => {
    expect(styleRule(3, "color: red")).toBe('[data-style="3"]:not(#_):not(#_) { color: red }');
  });
});
