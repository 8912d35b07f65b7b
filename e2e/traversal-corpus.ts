/**
 * Spellings by which paths have climbed out of their folder in other servers, and many that never worked, as
 * they stand in the target of a request.
 */
const encode = (text: string): string => encodeURIComponent(text).replaceAll(".", "%2e");

const DOTS = [
  "..",
  "...",
  "....",
  ".",
  "%2e%2e",
  "%2E%2E",
  ".%2e",
  "%2e.",
  "%252e%252e",
  "%25252e%25252e",
  "%c0%ae%c0%ae",
  "%c0%2e%c0%2e",
  "%e0%80%ae%e0%80%ae",
  "%f0%80%80%ae",
  "%uff0e%uff0e",
  "%%32%65%%32%65",
  encode("\uff0e\uff0e"),
  encode("\u2024\u2024"),
  encode("\u2025"),
  encode("\ufe52\ufe52"),
  encode("．．"),
  "..%00",
  "%00..",
  "..;",
  "..;x=y",
  "..%20",
  "..%09",
  "..%0a",
  "..%0d%0a",
  "..%7f",
  "..%e2%80%ae",
  "..%ef%bb%bf",
  "..%ff",
];

const SEPARATORS = [
  "/",
  "//",
  "/./",
  "%2f",
  "%2F",
  "%252f",
  "%25252f",
  "\\",
  "%5c",
  "%5C",
  "%255c",
  "%c0%af",
  "%c1%9c",
  "%e0%80%af",
  "%c0%2f",
  "%bg%qf",
  encode("\uff0f"),
  encode("\u2215"),
  encode("\uff3c"),
  "%2f%2f",
  "/%2f",
  "%5c/",
  "?/",
  "#/",
  "%23/",
  "%3f/",
];

const TARGETS = [
  "etc/passwd",
  "canary.txt",
  "data/cairn.db",
  "cairn.db",
  "lock.db",
  "format",
  "incoming/x",
  "blobs/format",
  "windows/win.ini",
  "boot.ini%00.png",
  "proc/self/environ",
  "",
];

const PREFIXES = [
  "",
  "a/",
  "/",
  "//",
  "%2f",
  "file:///",
  "file:",
  "file:%2f%2f%2f",
  "http://127.0.0.1/",
  "\\\\host\\share\\",
  "%5c%5chost%5cshare%5c",
  "//host/share/",
  "c:",
  "C:%5c",
  "c:/",
  "%43%3a/",
  "%5c%5c?%5cC:%5c",
  "~/",
  "~root/",
  "$HOME/",
  "%00",
  "%00/",
  "proc/self/root/",
  "a%00/",
  "CON/",
  "NUL:",
  "::$DATA/",
];

/** Ready-made ones, each also encoded one, two and three times. */
const CLASSICS = [
  "../../../../../../../../etc/passwd",
  "..\\..\\..\\..\\windows\\win.ini",
  "....//....//....//etc/passwd",
  "..././..././etc/passwd",
  "..../\\..../\\etc/passwd",
  "/etc/passwd",
  "//etc/passwd",
  "/../../etc/passwd",
  "a/../../../../etc/passwd",
  "a/b/../../../canary.txt",
  "file:///etc/passwd",
  "\\\\localhost\\c$\\windows\\win.ini",
  "C:\\boot.ini",
  "c:boot.ini",
  "a\u0000/../../canary.txt",
  "\u0000",
  "a\nb",
  "a\r\nset-cookie: x=y",
  "\ud83d",
  "\u202e../canary.txt",
  "..\u2215..\u2215canary.txt",
  "\uff0e\uff0e\uff0fcanary.txt",
  "con",
  "aux.txt",
  "a/./b",
  "a//b",
  "a/",
  ".",
  "..",
  "/",
  "x".repeat(1025),
  "é".repeat(600),
  `${"a/".repeat(40)}b`,
  `${"../".repeat(500)}etc/passwd`,
  "__proto__",
  "constructor/prototype",
  "%",
  "%2",
  "%zz",
  "%u002e%u002e",
];

const TIMES_ENCODED = 3;

/** With so many, every way to write dots is there before every way to write a separator, and each classic in each encoding. */
export const EVERY_PAIR: number = DOTS.length * SEPARATORS.length + CLASSICS.length * (1 + TIMES_ENCODED);

/** `count` different ones: the classics, and combinations that another seed begins elsewhere. */
export function traversalCorpus(count: number, seed = 0): string[] {
  const corpus = new Set<string>();
  for (const classic of CLASSICS) {
    const safe = classic.toWellFormed();
    corpus.add(safe.replaceAll(/[^\x21-\x7e]/g, (mark) => encode(mark)));
    for (
      let text = encodeURIComponent(safe), times = 0;
      times < TIMES_ENCODED;
      text = encodeURIComponent(text), times++
    ) {
      corpus.add(text);
    }
  }
  // A stride that shares no factor with the number of combinations visits them all, in no order to speak of.
  const parts = [DOTS, SEPARATORS, [1, 2, 3, 5, 8], TARGETS, PREFIXES] as const;
  const combinations = parts.reduce((product, part) => product * part.length, 1);
  const stride = 7_919 * 104_729;
  const first = seed % combinations;
  for (let n = 0; corpus.size < count && n < combinations; n++) {
    let rest = ((first + n) * stride) % combinations;
    const [dots, separator, depth, target, prefix] = parts.map((part) => {
      const chosen = part[rest % part.length]!;
      rest = Math.floor(rest / part.length);
      return chosen;
    });
    corpus.add(`${prefix}${`${dots}${separator}`.repeat(Number(depth))}${target}`);
  }
  return [...corpus];
}
