import { redactPatch } from "../patch.ts";
import { secretPathspecs } from "../secrets/secret-files.ts";
import { lineOf, type Git } from "./safe-git.ts";

export interface Patch {
  /** Empty when nothing tracked has changed, and when it is left out. */
  text: string;
  /** Why it is left out; undefined when it is not. */
  leftOut?: { cause: string; why: "late" | "large" | "failed"; sizeBytes: number };
  notes: string[];
}

const PATCH_BYTES_MAX = 1 << 20;

const DIFF_OPTIONS: readonly string[] = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-renames",
  "--ignore-submodules=dirty",
  "--submodule=short",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--full-index",
  "--binary",
  "--unified=3",
  "--inter-hunk-context=0",
  "--diff-algorithm=myers",
];

/**
 * All tracked changes against a commit, "" for none yet, without files that hold secrets. One that is too large is
 * measured as long as there is time.
 */
export async function readPatch(
  git: Git,
  root: string,
  { commit, filters }: { commit: string; filters: readonly string[] },
): Promise<Patch> {
  let base = commit;
  if (base === "") {
    // Before the first commit all that is tracked is new; the name of the empty tree depends on the repository.
    const empty = await git(root, ["hash-object", "-t", "tree", "/dev/null"]);
    if (!empty.ok) return leftOut(empty.cause, empty.why);
    base = lineOf(empty);
  }
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  const onPiece = (piece: Buffer) => {
    sizeBytes += piece.length;
    if (sizeBytes <= PATCH_BYTES_MAX) pieces.push(piece);
  };
  const args = [...filters, "diff", ...DIFF_OPTIONS, base, "--", ":(top)", ...secretPathspecs()];
  const outcome = await git(root, args, { onPiece });
  // How large it is remains unknown where the end was not reached.
  if (sizeBytes > PATCH_BYTES_MAX)
    return leftOut("it has more than 1 MiB", "large", outcome.ok ? sizeBytes : 0);
  if (!outcome.ok) return leftOut(outcome.cause, outcome.why);
  const notes: string[] = [];
  const bytes = Buffer.concat(pieces);
  const text = bytes.toString("utf8");
  if (Buffer.byteLength(text) !== bytes.length || !Buffer.from(text).equals(bytes)) {
    notes.push("the patch has bytes that are not UTF-8; they are replaced, and those lines do not apply");
  }
  const clean = redactPatch(text);
  if (clean.isChanged) notes.push("the patch has credentials in it; they are redacted");
  return { text: clean.text, notes };
}

function leftOut(cause: string, why: string, sizeBytes = 0): Patch {
  return {
    text: "",
    leftOut: { cause, why: why === "late" || why === "large" ? why : "failed", sizeBytes },
    notes: [],
  };
}
