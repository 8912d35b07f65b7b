import { limits } from "#lang/limits.ts";

/** Each returns what is wrong with a value, as text that follows a colon; undefined when nothing is. */

const CONTROL = /[\u0000-\u001f\u007f]/;
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

function textProblem(text: string, bytesMax: number): string | undefined {
  if (!text.isWellFormed()) return "it is not valid Unicode";
  if (text.length * 3 <= bytesMax) return undefined;
  const sizeBytes = Buffer.byteLength(text);
  return sizeBytes > bytesMax ? `it has ${sizeBytes} bytes, the most is ${bytesMax}` : undefined;
}

/** Of a metric, param, tag or metadata key, and of a label name. */
export function keyProblem(key: string, bytesMax: number = limits.keyBytesMax): string | undefined {
  if (key === "") return "it is empty";
  if (CONTROL.test(key)) return "it holds a control character";
  return textProblem(key, bytesMax);
}

export function labelValueProblem(value: string): string | undefined {
  if (CONTROL.test(value)) return "it holds a control character";
  return textProblem(value, limits.labelBytesMax);
}

export function namespaceProblem(path: string): string | undefined {
  if (path === "") return "it is empty";
  const long = textProblem(path, limits.namespacePathBytesMax);
  if (long !== undefined) return long;
  if (UNPRINTABLE.test(path)) return "it holds a control character";
  if (path.includes("\\")) return 'it holds a backslash; parts are divided by "/"';
  const parts = path.split("/");
  if (parts.length > limits.namespaceDepthMax) return `it has more than ${limits.namespaceDepthMax} parts`;
  for (const part of parts) {
    if (part === "") return 'it has an empty part; write it as in "team/project"';
    if (part === "." || part === "..") return `a part is "${part}"`;
    if (/^[0-9a-f]{32}$/.test(part)) return "a part looks like the id of a run";
  }
  return undefined;
}

export function artifactNameProblem(name: string): string | undefined {
  if (name === "") return "it is empty";
  const long = textProblem(name, limits.artifactNameBytesMax);
  if (long !== undefined) return long;
  if (UNPRINTABLE.test(name)) return "it holds a control character";
  if (name.includes("\\")) return "it holds a backslash";
  if (name.startsWith("/") || /^[A-Za-z]:/.test(name)) return "it is not a relative path";
  const parts = name.split("/");
  if (parts.length > limits.artifactNameDepthMax)
    return `it has more than ${limits.artifactNameDepthMax} parts`;
  if (parts.some((part) => part === "" || part === "." || part === "..")) {
    return 'a part is empty, "." or ".."';
  }
  return undefined;
}

/** At most so many bytes of UTF-8, cut between characters. */
export function cutText(text: string, bytesMax: number): string {
  const whole = text.toWellFormed();
  if (whole.length * 3 <= bytesMax) return whole;
  const bytes = Buffer.from(whole);
  if (bytes.length <= bytesMax) return whole;
  let end = bytesMax;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
