import { byteLength } from "#base/byte-length.ts";
import { isRunId } from "#base/run-id.ts";

import { CairnError, quote } from "./errors.ts";
import { limits } from "./limits.ts";

/**
 * Namespace paths: "langtech/asr/en_wav2vec". They are compared byte for byte: no case folding, no
 * Unicode normalisation. The root is "".
 */
export interface ParseNamespaceOptions {
  /** Whether "" is an answer here. */
  root?: boolean;
}

const SHAPE_HINT = 'write segments with "/" between them and none around them, such as "team/project"';

// Line and paragraph separators break lines in logs as control characters do.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Returns the text when it is a namespace path, or throws `invalid` and says what is wrong with it. */
export function parseNamespace(text: string, options: ParseNamespaceOptions = {}): string {
  if (text === "") {
    if (options.root === true) return text;
    throw refusal(text, "it is empty", "name a namespace; the root cannot be used here");
  }
  const bytes = byteLength(text);
  if (bytes > limits.namespacePathBytesMax) {
    throw refusal(
      text,
      `it has ${bytes} bytes`,
      `a path has at most ${limits.namespacePathBytesMax} bytes of UTF-8`,
    );
  }
  if (!text.isWellFormed()) throw refusal(text, "it is not well-formed Unicode", "send valid UTF-8");
  if (UNPRINTABLE.test(text)) {
    throw refusal(text, "it holds a control character", "leave out line breaks, tabs and the like");
  }
  if (text.includes("\\")) throw refusal(text, "it holds a backslash", 'segments are divided by "/"');
  const segments = text.split("/");
  if (segments.length > limits.namespaceDepthMax) {
    throw refusal(
      text,
      `it has ${segments.length} segments`,
      `a path has at most ${limits.namespaceDepthMax} segments`,
    );
  }
  for (const segment of segments) checkSegment(text, segment);
  return text;
}

function checkSegment(text: string, segment: string): void {
  if (segment === "") {
    if (text.startsWith("/")) throw refusal(text, 'it begins with "/"', SHAPE_HINT);
    if (text.endsWith("/")) throw refusal(text, 'it ends with "/"', SHAPE_HINT);
    throw refusal(text, "it has an empty segment", SHAPE_HINT);
  }
  if (segment === "." || segment === "..") {
    throw refusal(text, `a segment is ${quote(segment)}`, "paths are always written from the root");
  }
  if (isRunId(segment)) {
    throw refusal(
      text,
      `segment ${quote(segment)} looks like a run id`,
      "a path that ends in 32 hex digits names a run; choose another name",
    );
  }
}

function refusal(text: string, cause: string, hint: string): CairnError {
  return new CairnError("invalid", `cannot use namespace ${quote(text)}: ${cause}`, { hint });
}

/** The namespaces above a path, from the root "" down to its parent. The root has none. */
export function ancestors(path: string): string[] {
  if (path === "") return [];
  const above = [""];
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) above.push(path.slice(0, at));
  return above;
}

/** Whether `path` is `prefix` or below it: "langtech/asr" is under "langtech", "langtechX" is not. */
export function isUnder(path: string, prefix: string): boolean {
  if (prefix === "" || path === prefix) return true;
  return path.length > prefix.length && path[prefix.length] === "/" && path.startsWith(prefix);
}

/** The path once `from` and everything below it are at `to`. */
export function movedPath(path: string, from: string, to: string): string {
  return isUnder(path, from) ? to + path.slice(from.length) : path;
}
