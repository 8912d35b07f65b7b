import { decodeEntities } from "./entities.ts";
import { htmlTokens } from "./html-tokens.ts";
import { NESTING_MAX, SVG_ELEMENTS_MAX } from "./limits.ts";
import { TooMuch } from "./prepared.ts";

interface Element {
  children: Element[];
  /** Ids it draws: copies, patterns, masks, gradients. */
  refs: readonly string[];
  /** Whether a style sheet can make it draw elements with ids, too. */
  isStyled: boolean;
  cost?: number;
}

const OPAQUE = new Set(["style"]);
const REF = /#([^\s"'()]+)/g;
/** An embedded SVG. */
const NESTED = /data:[^,]*(?:xml|html)/i;

/**
 * How many elements a browser draws for an SVG: with copies of copies and patterns in patterns, ten lines of text can
 * be a billion shapes. Throws TooMuch above the limit.
 */
export function svgCost(text: string): number {
  // An entity may stand for any text, also for others.
  if (/<!ENTITY/i.test(text)) throw new TooMuch("large");
  const { root, byId, sheetRefs } = readSvg(text);
  const costOf = (element: Element): number => {
    if (element.cost !== undefined) return element.cost;
    // Browsers do not draw cycles.
    element.cost = 0;
    let cost = 1;
    for (const child of element.children) cost += costOf(child);
    for (const id of element.isStyled ? [...element.refs, ...sheetRefs] : element.refs) {
      const target = byId.get(id);
      if (target !== undefined) cost += costOf(target);
    }
    if (cost > SVG_ELEMENTS_MAX) throw new TooMuch("large");
    element.cost = cost;
    return cost;
  };
  try {
    return costOf(root);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw new TooMuch("deep");
    throw thrown;
  }
}

function readSvg(text: string): { root: Element; byId: Map<string, Element>; sheetRefs: string[] } {
  const root: Element = { children: [], refs: [], isStyled: false };
  const byId = new Map<string, Element>();
  const sheetRefs: string[] = [];
  const open = [root];
  let count = 0;
  for (const token of htmlTokens(text, OPAQUE)) {
    if (token.kind === "content") {
      // With backslash escapes an address could not be recognized here.
      if (token.text.includes("\\") || NESTED.test(token.text)) throw new TooMuch("large");
      for (const address of token.text.matchAll(/url\([^)]*\)/gi)) sheetRefs.push(...refsIn(address[0]));
    } else if (token.kind === "end") {
      if (open.length > 1) open.pop();
    } else if (token.kind === "start") {
      count += 1;
      if (count > SVG_ELEMENTS_MAX) throw new TooMuch("large");
      if (open.length > NESTING_MAX) throw new TooMuch("deep");
      const values = [...token.attributes].map(([, value]) => decodeEntities(value));
      if (values.some((value) => NESTED.test(value))) throw new TooMuch("large");
      const element = { children: [], refs: values.flatMap(refsIn), isStyled: token.name !== "stop" };
      open.at(-1)!.children.push(element);
      const id = token.attributes.get("id");
      if (id !== undefined && !byId.has(id)) byId.set(id, element);
      if (!token.isEmpty) open.push(element);
    }
  }
  return { root, byId, sheetRefs };
}

function refsIn(value: string): string[] {
  return Array.from(value.matchAll(REF), ([, id]) => id!);
}
