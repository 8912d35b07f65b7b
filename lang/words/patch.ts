/** A line of a patch as `diff -u` and git print it. */
export interface PatchLine {
  kind: "file" | "hunk" | "added" | "removed" | "same";
  text: string;
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/** The number of lines of a hunk is in its head, so that a removed line of dashes is not read as the name of a file. */
export function readPatch(patch: string): PatchLine[] {
  return readPatchLines(patch === "" ? [] : patch.replace(/\n$/, "").split("\n"));
}

export function readPatchLines(lines: readonly string[]): PatchLine[] {
  let oldLeft = 0;
  let newLeft = 0;
  return lines.map((text) => {
    const hunk = HUNK.exec(text);
    if (hunk !== null) {
      oldLeft = Number(hunk[1] ?? 1);
      newLeft = Number(hunk[2] ?? 1);
      return { kind: "hunk", text };
    }
    if (oldLeft + newLeft <= 0 || text.startsWith("diff --git ")) {
      oldLeft = newLeft = 0;
      return { kind: "file", text };
    }
    const kind = text.startsWith("+") ? "added" : text.startsWith("-") ? "removed" : "same";
    if (kind !== "added") oldLeft--;
    if (kind !== "removed") newLeft--;
    return { kind, text };
  });
}

/** "+12 -3 in schedule.py", or in so many files. */
export function describePatch(patch: string): string {
  const lines = readPatch(patch);
  const count = (kind: PatchLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  const files = lines.filter(({ kind, text }) => kind === "file" && text.startsWith("+++ "));
  const names = files.map(({ text }) =>
    text
      .slice(4)
      .replace(/^[a-z]\//, "")
      .trim(),
  );
  const place = names.length === 1 ? names[0]! : `${names.length} files`;
  return `+${count("added")} -${count("removed")}${names.length === 0 ? "" : ` in ${place}`}`;
}
