import { roleSources } from "#core/types/source-role.ts";
import type { Provenance } from "#core/types/provenance.ts";
import type { Db } from "../file/db.ts";

/** Makes the links of a run with roles follow its provenance. Links that stay keep their number and time. */
export function followProvenance(
  db: Db,
  run: number,
  { before, after }: { before: Provenance | undefined; after: Provenance | undefined },
  nowUs: number,
): void {
  const known = roleSources(before);
  const wanted = roleSources(after);
  const names = new Set(wanted.map(nameOf));
  const gone = known.filter((one) => !names.has(nameOf(one)));
  for (const { role, source } of gone) {
    db.run("DELETE FROM source_link WHERE run = ? AND source = ? AND role = ?", run, source, role);
  }
  const old = new Set(known.map(nameOf));
  for (const one of wanted) {
    if (old.has(nameOf(one))) continue;
    db.run(
      `INSERT OR IGNORE INTO source_link (run, source, artifact, created_us, by_text, role)
       VALUES (?, ?, '', ?, 1, ?)`,
      run,
      one.source,
      nowUs,
      one.role,
    );
  }
}

function nameOf({ role, source }: { role: number; source: string }): string {
  return `${role} ${source}`;
}
