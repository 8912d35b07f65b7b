import type { FramePage } from "./prepared.ts";

/**
 * The styles of a page of a user, as one sheet. This is not for security, which the policy of the frame provides, but
 * browsers log each address that the policy blocks.
 */
const IMPORT = /@import\b(?:"[^"]*"|'[^']*'|[^;"'])*;?/gi;
const ADDRESS = /url\(\s*(?!["']?data:)(?:"[^"]*"|'[^']*'|[^)]*)\s*\)/gi;

/** The element whose style it was has its number in this attribute. */
export const STYLE_KEPT = "data-style";

/** A rule for the elements with this number, as strong as a style of their own would be. */
export function styleRule(place: number, declarations: string): string {
  return `[${STYLE_KEPT}="${place}"]:not(#_):not(#_) { ${declarations} }`;
}

/** The style sheet without what it would load; the policy of the frame blocks what is not recognized here. */
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
