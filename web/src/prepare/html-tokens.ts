/**
 * The tags and texts of a page, as far as a preview needs them. It need not parse like a browser, because the preview
 * is serialized from these tokens. Takes linear time for any text: a search without a match ends the page.
 */
export type HtmlToken =
  | { kind: "text"; text: string }
  | { kind: "start"; name: string; attributes: ReadonlyMap<string, string>; isEmpty: boolean }
  | { kind: "end"; name: string }
  /** What is between the tags of an element whose content is not markup, such as a style sheet. */
  | { kind: "content"; name: string; text: string };

/** Elements whose content is not markup, or not shown in a preview. */
const OPAQUE = new Set([
  "script",
  "style",
  "title",
  "textarea",
  "xmp",
  "iframe",
  "noembed",
  "noframes",
  "noscript",
  "template",
  "svg",
  "math",
  "object",
  "applet",
  "select",
  "audio",
  "video",
  "canvas",
  "plaintext",
]);
const NAME = /[a-zA-Z][^\s/>]*/y;
const ATTRIBUTE = /[\s/]*([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?/y;
const TAG_END = /[^>]*>/y;

export function* htmlTokens(text: string, opaque: ReadonlySet<string> = OPAQUE): Generator<HtmlToken> {
  let lower: string | undefined;
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("<", at);
    if (open !== at) yield { kind: "text", text: text.slice(at, open < 0 ? undefined : open) };
    if (open < 0) return;
    at = open;
    if (text[at + 1] === "!" || text[at + 1] === "?") {
      const isComment = text.startsWith("<!--", at);
      const end = isComment ? text.indexOf("-->", at + 4) : text.indexOf(">", at);
      if (end < 0) return;
      at = end + (isComment ? 3 : 1);
      continue;
    }
    const isEnd = text[at + 1] === "/";
    const name = matched(NAME, text, at + (isEnd ? 2 : 1))?.[0].toLowerCase();
    if (name === undefined) {
      yield { kind: "text", text: "<" };
      at += 1;
      continue;
    }
    at += name.length + (isEnd ? 2 : 1);
    const attributes = new Map<string, string>();
    for (let found = matched(ATTRIBUTE, text, at); found !== null; found = matched(ATTRIBUTE, text, at)) {
      at = ATTRIBUTE.lastIndex;
      const [, key, ...values] = found;
      const known = key!.toLowerCase();
      if (!attributes.has(known)) attributes.set(known, values.find((value) => value !== undefined) ?? "");
    }
    if (matched(TAG_END, text, at) === null) return;
    at = TAG_END.lastIndex;
    const isEmpty = text[at - 2] === "/";
    yield isEnd ? { kind: "end", name } : { kind: "start", name, attributes, isEmpty };
    if (isEnd || !opaque.has(name)) continue;
    lower ??= text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
    const end = lower.indexOf(`</${name}`, at);
    yield { kind: "content", name, text: text.slice(at, end < 0 ? undefined : end) };
    if (end < 0) return;
    at = end;
  }
}

function matched(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
