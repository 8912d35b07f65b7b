/**
 * A place that access is bound to or checked for: a namespace ("" for the root of everything), a run in
 * one, or an artifact of a run.
 */
export interface Scope {
  namespace: string;
  runId?: string;
  /** Only with `runId`. */
  artifact?: string;
}

export const ROOT: Scope = { namespace: "" };

/**
 * One text per scope, for maps: a line each for namespace, run and artifact. No namespace holds a line break. That of a
 * run is without its namespace: what is bound and closed on a run counts wherever that is, also while it is moved.
 */
export function scopeKey({ namespace, runId, artifact }: Scope): string {
  if (runId === undefined) return namespace;
  return artifact === undefined ? `\n${runId}` : `\n${runId}\n${artifact}`;
}

/** The scopes whose bindings reach this one, from the root inwards; the last is the scope itself. */
export function chainOf(scope: Scope): Scope[] {
  const { namespace, runId, artifact } = scope;
  const chain: Scope[] = [ROOT];
  for (let end = namespace.indexOf("/"); end >= 0; end = namespace.indexOf("/", end + 1)) {
    chain.push({ namespace: namespace.slice(0, end) });
  }
  if (namespace !== "") chain.push({ namespace });
  if (runId !== undefined) chain.push({ namespace, runId });
  if (runId !== undefined && artifact !== undefined) chain.push(scope);
  return chain;
}

/**
 * What one caller may read, as data that an engine can keep: a namespace is readable when its nearest
 * ancestor (or itself) in `namespaces` is; `runs` holds the exceptions. Two masks with the same id are
 * the same mask.
 */
export interface ReadMask {
  id: string;
  /** Always has "". */
  namespaces: ReadonlyMap<string, boolean>;
  /** By run id: runs with a rule of their own. */
  runs: ReadonlyMap<string, boolean>;
}

/** Names of artifacts by the id of their run. */
export type HiddenArtifacts = ReadonlyMap<string, readonly string[]>;

export function maskReadsNamespace(mask: ReadMask, namespace: string): boolean {
  for (let path = namespace; ;) {
    const readable = mask.namespaces.get(path);
    if (readable !== undefined) return readable;
    if (path === "") return false;
    path = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  }
}

export function maskReadsRun(mask: ReadMask, run: { id: string; namespace: string }): boolean {
  return mask.runs.get(run.id) ?? maskReadsNamespace(mask, run.namespace);
}
