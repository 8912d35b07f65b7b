import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";

// Line and paragraph separators break lines in logs as control characters do.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const DRIVE = /^[A-Za-z]:/;
const SHAPE_HINT = 'write a relative path with "/" between its parts, such as "checkpoints/epoch-3.pt"';

/**
 * Returns the text when it is the name of an artifact, or throws `invalid` and says what is wrong with it.
 *
 * A name is only a key of the database: no file of the server is ever named after it, so the server does not
 * need these rules. They protect clients that download: a valid name is a relative path that stays below the
 * folder it is joined to, on any system.
 */
export function checkArtifactName(name: string): string {
  if (name === "") throw refusal(name, "it is empty", SHAPE_HINT);
  const bytes = Buffer.byteLength(name);
  if (bytes > limits.artifactNameBytesMax) {
    throw refusal(name, `it has ${bytes} bytes`, `a name has at most ${limits.artifactNameBytesMax} bytes`);
  }
  if (!name.isWellFormed()) throw refusal(name, "it is not well-formed Unicode", "send valid UTF-8");
  if (UNPRINTABLE.test(name)) throw refusal(name, "it holds a control character", "leave it out");
  if (name.includes("\\")) throw refusal(name, "it holds a backslash", SHAPE_HINT);
  if (name.startsWith("/")) throw refusal(name, 'it begins with "/"', SHAPE_HINT);
  if (DRIVE.test(name)) throw refusal(name, "it begins with a drive letter", SHAPE_HINT);
  const parts = name.split("/");
  if (parts.length > limits.artifactNameDepthMax) {
    throw refusal(name, `it has ${parts.length} parts`, `the most is ${limits.artifactNameDepthMax}`);
  }
  for (const part of parts) {
    if (part === "") throw refusal(name, "it has an empty part", SHAPE_HINT);
    if (part === "." || part === "..") throw refusal(name, `it has a part ${quote(part)}`, SHAPE_HINT);
  }
  return name;
}

function refusal(name: string, cause: string, hint: string): CairnError {
  return new CairnError("invalid", `cannot use artifact name ${quote(name)}: ${cause}`, {
    reason: "INVALID_NAME",
    hint,
  });
}
