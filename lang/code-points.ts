/**
 * Orders two texts by code point, as UTF-8 bytes would; the `<` of JavaScript goes by UTF-16 units
 * and puts an emoji before U+FFFD. Below 0, 0 or above 0.
 */
export function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Units of a surrogate pair represent code points above every other unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** The 1-based column of a UTF-16 index, in code points. */
export function columnAt(text: string, index: number): number {
  let column = 1;
  for (let at = 0; at < index; column++) {
    at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  }
  return column;
}

/** The index of the first surrogate without its partner, or -1. */
export function loneSurrogateAt(text: string): number {
  return text.isWellFormed() ? -1 : text.search(/\p{Surrogate}/u);
}
