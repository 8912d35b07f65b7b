import { Marked, type MarkedToken, type Token, type Tokens } from "marked";
import { visibleMarks } from "./visible-text.ts";
import { Budget } from "./budget.ts";
import { decodeEntities } from "./entities.ts";
import { TEXT_LENGTH_MAX } from "./limits.ts";
import { isSafeLink, isSafePicture, pictureWords } from "./links.ts";
import { TooMuch, type MarkupAttributes, type MarkupNode, type MarkupTag } from "./prepared.ts";

const marked = new Marked({ gfm: true, breaks: true });

/** Markdown as elements of a page. HTML inside of it is text. Throws TooMuch. */
export function markdownTree(text: string): MarkupNode[] {
  if (text.length > TEXT_LENGTH_MAX) throw new TooMuch("large");
  try {
    return new TreeMaker().nodes(marked.lexer(text), 0);
  } catch (thrown) {
    // The lexer recurses for every level: its only limit is the stack.
    if (thrown instanceof RangeError) throw new TooMuch("deep");
    throw thrown;
  }
}

class TreeMaker {
  readonly #budget = new Budget();

  nodes(tokens: readonly Token[] = [], depth: number): MarkupNode[] {
    const nodes: MarkupNode[] = [];
    for (const token of tokens) {
      for (const node of [this.#node(token as MarkedToken, depth)].flat()) {
        const last = nodes.at(-1);
        // Merges adjacent text tokens, so that counting elements counts everything.
        if (typeof node === "string" && typeof last === "string") nodes[nodes.length - 1] = last + node;
        else nodes.push(node);
      }
    }
    return nodes;
  }

  #node(token: MarkedToken, depth: number): MarkupNode | MarkupNode[] {
    switch (token.type) {
      case "space":
      case "def":
        return [];
      case "paragraph":
        return this.#around("p", token.tokens, depth);
      case "heading":
        return this.#around(`h${token.depth}` as MarkupTag, token.tokens, depth);
      case "blockquote":
      case "strong":
      case "em":
      case "del":
        return this.#around(token.type, token.tokens, depth);
      case "br":
      case "hr":
        return this.#element(token.type, depth, {}, () => []);
      case "list":
        return this.#list(token, depth);
      case "table":
        return this.#table(token, depth);
      case "code":
        return this.#element("pre", depth, {}, () => [this.#code(`${token.text}\n`, depth + 1)]);
      case "codespan":
        return this.#code(token.text, depth);
      case "link":
        return this.#link(token, depth);
      case "image":
        return this.#picture(token, depth);
      case "checkbox":
        return token.checked ? "☑ " : "☐ ";
      case "html":
      case "escape":
        return this.#text(token.text);
      case "text":
        return token.tokens === undefined
          ? this.#text(decodeEntities(token.text))
          : this.nodes(token.tokens, depth);
      default:
        return this.#text((token as Token).raw);
    }
  }

  #list({ ordered, start, items }: Tokens.List, depth: number): MarkupNode {
    const first = ordered && typeof start === "number" && start !== 1 ? { start } : {};
    return this.#element(ordered ? "ol" : "ul", depth, first, () =>
      items.map((item) => this.#around("li", item.tokens, depth + 1)),
    );
  }

  #table({ header, rows }: Tokens.Table, depth: number): MarkupNode {
    const row = (cells: readonly Tokens.TableCell[], tag: "th" | "td") =>
      this.#element("tr", depth + 2, {}, () =>
        cells.map((cell) => this.#around(tag, cell.tokens, depth + 3)),
      );
    return this.#element("table", depth, {}, () => [
      this.#element("thead", depth + 1, {}, () => [row(header, "th")]),
      this.#element("tbody", depth + 1, {}, () => rows.map((cells) => row(cells, "td"))),
    ]);
  }

  #link({ href, title, tokens }: Tokens.Link, depth: number): MarkupNode {
    const address = encoded(decodeEntities(href));
    return this.#element(
      "a",
      depth,
      { ...(isSafeLink(address) && { href: address }), ...(title && { title: decodeEntities(title) }) },
      () => this.nodes(tokens, depth + 1),
    );
  }

  #picture({ href, title, text }: Tokens.Image, depth: number): MarkupNode {
    const alt = decodeEntities(text);
    if (!isSafePicture(href)) return this.#text(pictureWords(alt, href));
    return this.#element(
      "img",
      depth,
      { src: href, alt, ...(title && { title: decodeEntities(title) }) },
      () => [],
    );
  }

  #code(text: string, depth: number): MarkupNode {
    return this.#element("code", depth, {}, () => [this.#text(text)]);
  }

  #around(tag: MarkupTag, tokens: readonly Token[], depth: number): MarkupNode {
    return this.#element(tag, depth, {}, () => this.nodes(tokens, depth + 1));
  }

  #element(
    tag: MarkupTag,
    depth: number,
    attributes: MarkupAttributes,
    children: () => MarkupNode[],
  ): MarkupNode {
    this.#budget.element(depth);
    return { tag, attributes, children: children() };
  }

  #text(text: string): string {
    return visibleMarks(text);
  }
}

/** An address with spaces or letters of any language, as it goes into a link; empty when it has half a character. */
function encoded(address: string): string {
  try {
    return encodeURI(address).replaceAll("%25", "%");
  } catch {
    return "";
  }
}
