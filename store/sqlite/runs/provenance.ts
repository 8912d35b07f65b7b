import { NO_CODE, NO_PROVENANCE, type Provenance } from "#core/types/provenance.ts";

export function provenanceToText(provenance: Provenance | undefined): string | null {
  if (provenance === undefined) return null;
  return JSON.stringify({ ...provenance, environment: [...provenance.environment] });
}

/** Rows of earlier versions lack later fields. */
export function provenanceFromText(text: string | null): Provenance | undefined {
  if (text === null) return undefined;
  const plain = JSON.parse(text) as Omit<Provenance, "environment"> & { environment: [string, string][] };
  const code = plain.code && { ...NO_CODE, ...plain.code };
  return { ...NO_PROVENANCE, ...plain, code, environment: new Map(plain.environment) };
}
