/** The tags and attributes that a preview keeps. Others are left out; their content stays. */
export const TAGS: ReadonlySet<string> = new Set(
  (
    "a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del dfn div dl dt em fieldset figcaption figure font footer " +
    "h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd label legend li main mark menu meter nav nobr ol p pre progress q rp rt ruby s samp section small span strike strong " +
    "sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr"
  ).split(" "),
);
export const EMPTY_TAGS: ReadonlySet<string> = new Set(["br", "col", "hr", "img", "wbr"]);
export const ATTRIBUTES: ReadonlySet<string> = new Set(
  (
    "align alt bgcolor border cellpadding cellspacing class color colspan datetime dir face headers height hidden id lang max min nowrap reversed rowspan scope size span " +
    "start title type valign value width"
  ).split(" "),
);

interface Ending {
  /** Ends the nearest of these … */
  ends: readonly string[];
  /** … that is not outside of one of these. */
  within: readonly string[];
}

const CELLS = ["td", "th", "caption"];
const SECTIONS = ["thead", "tbody", "tfoot", "colgroup", "caption"];
const PARAGRAPH: Ending = { ends: ["p"], within: ["table", ...CELLS] };

/** Elements that a start tag closes implicitly, the innermost first. */
export const ENDINGS: ReadonlyMap<string, readonly Ending[]> = new Map<string, readonly Ending[]>([
  ["li", [{ ends: ["li"], within: ["ul", "ol", "menu"] }, PARAGRAPH]],
  ...["dt", "dd"].map((tag) => [tag, [{ ends: ["dt", "dd"], within: ["dl"] }, PARAGRAPH]] as const),
  ...["td", "th"].map((tag) => [tag, [{ ends: ["td", "th"], within: ["tr", "table"] }]] as const),
  ["tr", [{ ends: ["tr", "caption"], within: ["table"] }]],
  ...SECTIONS.map((tag) => [tag, [{ ends: SECTIONS, within: ["table"] }]] as const),
  ["a", [{ ends: ["a"], within: ["table", ...CELLS] }]],
  ..."address article aside blockquote center div dl fieldset figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre section summary table ul"
    .split(" ")
    .map((tag) => [tag, [PARAGRAPH]] as const),
]);

/**
 * An end tag closes nothing outside of these: one of a table, nothing outside its table; any other, nothing outside its
 * cell.
 */
export function endsWithin(tag: string): readonly string[] {
  if (tag === "table") return [];
  return tag === "tr" || CELLS.includes(tag) || SECTIONS.includes(tag) ? ["table"] : ["table", ...CELLS];
}
