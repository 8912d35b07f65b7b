/**
 * The results of preparing texts of users, in a worker thread (worker.ts): only known elements, counted, without active
 * content.
 */
export interface Preparations {
  markdown: readonly MarkupNode[];
  html: FramePage;
  /** How many elements are drawn for it. */
  svg: number;
}

/** An element and what is in it, or text. */
export type MarkupNode = string | MarkupElement;
export interface MarkupElement {
  tag: MarkupTag;
  attributes?: MarkupAttributes;
  children: readonly MarkupNode[];
}
export type MarkupTag =
  | "a"
  | "blockquote"
  | "br"
  | "code"
  | "del"
  | "em"
  | "h1"
  | "h2"
  | "h3"
  | "h4"
  | "h5"
  | "h6"
  | "hr"
  | "img"
  | "li"
  | "ol"
  | "p"
  | "pre"
  | "strong"
  | "table"
  | "tbody"
  | "td"
  | "th"
  | "thead"
  | "tr"
  | "ul";
export interface MarkupAttributes {
  href?: string;
  src?: string;
  alt?: string;
  title?: string;
  start?: number;
}

/** The body of a page as XML, and its style sheet. */
export interface FramePage {
  markup: string;
  sheet: string;
}

/** Why a text is shown as plain text. */
export type Refusal = "large" | "deep" | "slow" | "broken";
export type Outcome<V> = { value: V } | { refused: Refusal };

export class TooMuch extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(`too ${refusal}`);
    this.refusal = refusal;
  }
}
