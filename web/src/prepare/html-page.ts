import { visibleMarks } from "./visible-text.ts";
import { Budget } from "./budget.ts";
import { decodeEntities } from "./entities.ts";
import { htmlTokens } from "./html-tokens.ts";
import { ATTRIBUTES, EMPTY_TAGS, ENDINGS, endsWithin, TAGS } from "./html-rules.ts";
import { TEXT_LENGTH_MAX } from "./limits.ts";
import { isSafeLink, isSafePicture, pictureWords } from "./links.ts";
import { STYLE_KEPT, styleRule, withoutAddresses } from "./page-styles.ts";
import { TooMuch, type FramePage } from "./prepared.ts";

/**
 * A page of a user without anything that runs or loads, and with separate styles. It is serialized as XML from known
 * tags and attributes (html-rules.ts), so that a browser makes exactly the elements that were counted here; from HTML
 * it could make millions of a few thousand tags. Throws TooMuch.
 */
export function htmlPage(text: string): FramePage {
  const writer = new PageWriter();
  for (const token of htmlTokens(text)) {
    if (token.kind === "text") writer.text(token.text);
    else if (token.kind === "start") writer.start(token.name, token.attributes);
    else if (token.kind === "end") writer.end(token.name);
    else if (token.name === "style") writer.sheet(token.text);
  }
  return writer.finish();
}

class PageWriter {
  readonly #budget = new Budget();
  readonly #parts: string[] = [];
  readonly #sheets: string[] = [];
  readonly #rules: string[] = [];
  /** Names of what is open, the outermost first. */
  readonly #open: string[] = [];
  #textLength = 0;

  text(written: string): void {
    this.#count(written.length);
    this.#parts.push(escaped(visibleMarks(decodeEntities(written))));
  }

  start(tag: string, attributes: ReadonlyMap<string, string>): void {
    if (!TAGS.has(tag)) return;
    for (const { ends, within } of ENDINGS.get(tag) ?? []) this.#end(ends, within);
    this.#budget.element(this.#open.length);
    const kept = this.#attributes(tag, attributes);
    if (kept === undefined) {
      const [alt, src] = [attributes.get("alt") ?? "", attributes.get("src") ?? ""];
      this.#parts.push(`<span>${escaped(pictureWords(decodeEntities(alt), decodeEntities(src)))}</span>`);
    } else if (EMPTY_TAGS.has(tag)) {
      this.#parts.push(`<${tag}${kept}/>`);
    } else {
      this.#parts.push(`<${tag}${kept}>`);
      this.#open.push(tag);
    }
  }

  end(tag: string): void {
    this.#end([tag], endsWithin(tag));
  }

  sheet(rules: string): void {
    this.#count(rules.length);
    this.#sheets.push(rules);
  }

  finish(): FramePage {
    this.#closeTo(0);
    const sheet = withoutAddresses([...this.#sheets, ...this.#rules].join("\n"));
    return { markup: this.#parts.join(""), sheet: escaped(sheet) };
  }

  #end(tags: readonly string[], within: readonly string[]): void {
    const place = this.#open.findLastIndex((tag) => tags.includes(tag) || within.includes(tag));
    if (place >= 0 && tags.includes(this.#open[place]!)) this.#closeTo(place);
  }

  #closeTo(place: number): void {
    while (this.#open.length > place) this.#parts.push(`</${this.#open.pop()!}>`);
  }

  /** undefined for a picture that is not in the page itself. */
  #attributes(tag: string, attributes: ReadonlyMap<string, string>): string | undefined {
    const kept: string[] = [];
    for (const [name, written] of attributes) {
      if (ATTRIBUTES.has(name)) kept.push(attribute(name, decodeEntities(written)));
    }
    const style = attributes.get("style");
    if (style !== undefined) {
      this.#count(style.length);
      kept.push(attribute(STYLE_KEPT, String(this.#rules.length)));
      this.#rules.push(styleRule(this.#rules.length, decodeEntities(style)));
    }
    if (tag === "a") {
      const address = decodeEntities(attributes.get("href") ?? "");
      if (isSafeLink(address)) kept.push(attribute("href", address));
      kept.push(attribute("target", "_blank"), attribute("rel", "noopener noreferrer nofollow"));
    }
    if (tag === "img") {
      const address = decodeEntities(attributes.get("src") ?? "");
      if (!isSafePicture(address)) return undefined;
      kept.push(attribute("src", address));
    }
    return kept.join("");
  }

  #count(length: number): void {
    this.#textLength += length;
    if (this.#textLength > TEXT_LENGTH_MAX) throw new TooMuch("large");
  }
}

function attribute(name: string, value: string): string {
  return ` ${name}="${escaped(value)}"`;
}

/** Characters that XML does not allow; with `u`, also half a surrogate pair. */
const NOT_IN_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

function escaped(text: string): string {
  return text
    .replace(NOT_IN_XML, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
