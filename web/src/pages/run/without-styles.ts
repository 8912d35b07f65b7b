/**
 * A page without styles, scripts and handlers, as far as that can be seen from its text. What the page may do does not depend on this: that is for sanitize.ts and the
 * frame. But a browser complains about each of them as soon as it reads the page, before anybody can take them out.
 */
const BLOCKS = /<(script|style)\b[^]*?<\/\1\s*>/gi;
const TAG = /<[a-z][^\s/>]*(?:"[^"]*"|'[^']*'|[^'">])*>/gi;
const ATTRIBUTE = /[\s/"'](?:on[a-z]+|style)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]*)/gi;

export function withoutStyles(page: string): string {
  return page.replace(BLOCKS, "").replace(TAG, (tag) => tag.replace(ATTRIBUTE, " "));
}
