/**
 * A page of a stranger without scripts and handlers, and with its styles apart, as far as that can be seen from its text. What the page may do does not depend on this:
 * that is for sanitize.ts, the frame and its policy. But a browser complains about each of them as soon as it reads the page, before anybody can take them out.
 */
const BLOCKS = /<(script|style)\b(?:"[^"]*"|'[^']*'|[^'">])*>([^]*?)<\/\1\s*>/gi;
const TAG = /<[a-z][^\s/>]*(?:"[^"]*"|'[^']*'|[^'">])*>/gi;
const ATTRIBUTE = /[\s/"'](on[a-z]+|style)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]*)/gi;
/** What a style sheet would load from elsewhere; the policy of the frame stops what is written so that it is not seen here. */
const IMPORT = /@import\b(?:"[^"]*"|'[^']*'|[^;"'])*;?/gi;
const ADDRESS = /url\(\s*(?!["']?data:)(?:"[^"]*"|'[^']*'|[^)]*)\s*\)/gi;

/** The element whose style it was has its text in this attribute. */
export const STYLE_KEPT = "data-style";

export function takeStyles(page: string): { markup: string; sheet: string } {
  const sheets: string[] = [];
  const markup = page
    .replace(BLOCKS, (_, name: string, content: string) => {
      if (name.toLowerCase() === "style") sheets.push(content);
      return "";
    })
    .replace(TAG, (tag) =>
      tag.replace(ATTRIBUTE, (_, name: string, value: string) =>
        name.toLowerCase() === "style" ? ` ${STYLE_KEPT}=${value}` : " ",
      ),
    );
  return { markup, sheet: sheets.join("\n") };
}

/** A rule for the elements with this number, as strong as a style of their own would be. */
export function styleRule(place: number, declarations: string): string {
  return `[${STYLE_KEPT}="${place}"]:not(#_):not(#_) { ${declarations} }`;
}

/** The document for the frame: nothing in it runs or loads, and only the one style sheet with the nonce counts. */
export function frameDocument(markup: string, sheet: string, nonce: string): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:`;
  // Nothing in a style sheet may end the element that it is in.
  const styles = sheet.replace(IMPORT, "").replace(ADDRESS, "none").replaceAll("</", "<\\/");
  return (
    `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}">` +
    `<style nonce="${nonce}">${styles}</style><body>${markup}`
  );
}
