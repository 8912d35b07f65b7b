import { CairnError, quote } from "#lang/errors.ts";

const PATH_BYTES_MAX = 8 << 10;
const PATH_SEGMENTS_MAX = 64;

/** A request target in its two halves, neither of them decoded. */
export interface Target {
  path: string;
  /** Without the "?". */
  query: string;
}

/**
 * Splits a request target. Only the origin form is accepted ("/path?query"): the absolute form would carry
 * a second host beside the one the guard has checked.
 */
export function parseTarget(url: string | undefined): Target {
  if (url === undefined || !url.startsWith("/")) {
    throw refusal(url ?? "", 'a request target starts with "/"');
  }
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  if (path.length > PATH_BYTES_MAX) {
    throw new CairnError("invalid", `cannot read path ${quote(path)}: over ${PATH_BYTES_MAX} bytes`, {
      reason: "PATH_TOO_LONG",
    });
  }
  return { path, query: mark < 0 ? "" : url.slice(mark + 1) };
}

/**
 * The segments of a path, each decoded exactly once. "%252e" comes out as "%2e" and means just that.
 * Refuses all known spellings that escape from a folder: ".", "..", backslash,
 * NUL and other control characters, empty segments, bytes that are not UTF-8. An encoded slash inside a
 * segment stays in it; the text on either side is checked like a segment.
 */
export function decodePath(path: string): string[] {
  const raw = path.slice(1).split("/");
  if (raw.length > PATH_SEGMENTS_MAX) throw refusal(path, `over ${PATH_SEGMENTS_MAX} segments`);
  if (raw.length === 1 && raw[0] === "") return [];
  return raw.map((segment) => decodeSegment(path, segment));
}

function decodeSegment(path: string, segment: string): string {
  if (!/^[\x21-\x7e]+$/.test(segment) || segment.includes("#")) {
    throw refusal(path, segment === "" ? "empty segment" : "characters that must be percent-encoded");
  }
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch (cause) {
    throw refusal(path, "invalid percent-encoding", cause);
  }
  if (/[\p{Cc}\u2028\u2029]/u.test(decoded)) throw refusal(path, "control character");
  if (decoded.includes("\\")) throw refusal(path, "backslash");
  for (const part of decoded.split("/")) {
    if (part === ".." || part === ".") throw refusal(path, `${quote(part)} is not a name`);
    if (part === "") throw refusal(path, "empty segment");
  }
  return decoded;
}

function refusal(path: string, cause: string, thrown?: unknown): CairnError {
  return new CairnError("invalid", `cannot read path ${quote(path)}: ${cause}`, {
    reason: "INVALID_PATH",
    cause: thrown,
  });
}
