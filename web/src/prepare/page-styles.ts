import type { FramePage } from "./prepared.ts";

/**
 * The styles of a page of a user, as one sheet. What the page may load does not depend on this: that is for the frame and its policy. But a browser complains about each
 * address that the policy stops.
 */
const IMPORT = /@import\b(?:"[^"]*"|'[^']*'|[^;"'])*;?/gi;
const ADDRESS = /url\(\s*(?!["']?data:)(?:"[^"]*"|'[^']*'|[^)]*)\s*\)/gi;

/** The element whose style it was has its number in this attribute. */
export const STYLE_KEPT = "data-style";

/** A rule for the elements with this number, as strong as a style of their own would be. */
export function styleRule(place: number, declarations: string): string {
  return `[${STYLE_KEPT}="${place}"]:not(#_):not(#_) { ${declarations} }`;
}

/** The style sheet without what it would load; the policy of the frame stops what is written so that it is not seen here. */
export function withoutAddresses(sheet: string): string {
  return sheet.replace(IMPORT, "").replace(ADDRESS, "none");
}

/** The document for the frame, as XHTML: nothing in it runs or loads, and only the one style sheet with the nonce counts. */
export function frameDocument({ markup, sheet }: FramePage, nonce: string): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:`;
  return (
    `<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head>` +
    `<meta http-equiv="Content-Security-Policy" content="${policy}"/>` +
    `<title>Preview</title><style nonce="${nonce}">${sheet}</style></head><body>${markup}</body></html>`
  );
}
