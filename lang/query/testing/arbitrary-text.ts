import fc from "fast-check";

/** What queries are made of, and some of what they are not. */
export const TEXT_PIECES = [
  ...Array.from("()=<>~!,.+-\"'`\\ \n\t0123456789eE_%*?[]{}|^$&#@:;/\u0000\u2028é😀\ud800"),
  ..."and or not in is null like ilike under order by desc now nan inf true".split(" "),
  ..."status name alias namespace started duration params params. tags.x metrics.loss.max".split(" "),
  ..."\"a\" 'a' `a` 1e-3 7d \\u12 '2026-01-31' (?i) {1000} \\pL".split(" "),
];

/** Any text, most of it somewhat like a query. */
export function arbitraryText(): fc.Arbitrary<string> {
  const piece = fc.constantFrom(...TEXT_PIECES);
  return fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join("")),
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(" ")),
  );
}
