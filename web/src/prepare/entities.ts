/** Characters by name, as HTML has them: those of HTML 4 that people write. Others are unchanged. */
const LATIN_FIRST = 160;
const LATIN =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest " +
  "Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml " +
  "Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash " +
  "ugrave uacute ucirc uuml yacute thorn yuml";
const GREEK =
  "alpha:α beta:β gamma:γ delta:δ epsilon:ε zeta:ζ eta:η theta:θ iota:ι kappa:κ lambda:λ mu:μ nu:ν xi:ξ omicron:ο pi:π rho:ρ sigmaf:ς sigma:σ tau:τ upsilon:υ phi:φ chi:χ psi:ψ omega:ω";
const SIGNS =
  "amp:& lt:< gt:> quot:\" apos:' ndash:– mdash:— lsquo:‘ rsquo:’ sbquo:‚ ldquo:“ rdquo:” bdquo:„ dagger:† bull:• hellip:… permil:‰ prime:′ Prime:″ euro:€ trade:™ larr:← uarr:↑ " +
  "rarr:→ darr:↓ harr:↔ rArr:⇒ hArr:⇔ forall:∀ part:∂ exist:∃ empty:∅ nabla:∇ isin:∈ notin:∉ prod:∏ sum:∑ minus:− radic:√ prop:∝ infin:∞ cap:∩ cup:∪ int:∫ sim:∼ cong:≅ asymp:≈ ne:≠ " +
  "equiv:≡ le:≤ ge:≥ sub:⊂ sup:⊃ check:✓ cross:✗";

const BY_NAME = new Map([
  ...LATIN.split(" ").map((name, i) => [name, String.fromCodePoint(LATIN_FIRST + i)] as const),
  ...`${GREEK} ${SIGNS}`.split(" ").map((pair) => [pair.slice(0, -2), pair.at(-1)!] as const),
  ...["Gamma:Γ", "Delta:Δ", "Theta:Θ", "Lambda:Λ", "Sigma:Σ", "Phi:Φ", "Psi:Ψ", "Omega:Ω"].map(
    (pair) => [pair.slice(0, -2), pair.at(-1)!] as const,
  ),
]);
const REFERENCE = /&(?:#(\d+)|#[xX]([0-9a-fA-F]+)|([a-zA-Z][a-zA-Z0-9]{1,30}));/g;
const CODE_MAX = 0x10ffff;

/** The text with its character references as the characters. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(REFERENCE, (written, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return BY_NAME.get(name) ?? written;
    const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= CODE_MAX && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\ufffd";
  });
}
