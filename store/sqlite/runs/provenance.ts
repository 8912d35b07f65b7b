import type { Provenance } from "#core/types/run.ts";

export function provenanceToText(provenance: Provenance | undefined): string | null {
  if (provenance === undefined) return null;
  return JSON.stringify({ ...provenance, environment: [...provenance.environment] });
}

export function provenanceFromText(text: string | null): Provenance | undefined {
  if (text === null) return undefined;
  const plain = JSON.parse(text) as Omit<Provenance, "environment"> & { environment: [string, string][] };
  return { ...plain, code: plain.code, environment: new Map(plain.environment) };
}
