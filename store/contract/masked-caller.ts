import type { Caller } from "#core/access/caller.ts";
import type { Permission } from "#core/types/permission.ts";
import { maskReadsNamespace, maskReadsRun, type ReadMask } from "#core/types/scope.ts";

/** What a caller may not see. */
export interface Hidden {
  /** With everything below them. */
  namespaces?: readonly string[];
  /** By id. */
  runs?: readonly string[];
  /** By name, of any run. */
  artifacts?: readonly string[];
}

/** A caller that may do everything, except with hidden things. */
export function callerWithout(hidden: Hidden, permission: Permission = "write"): Caller {
  const mask: ReadMask = {
    id: JSON.stringify(hidden),
    namespaces: new Map([["", true], ...(hidden.namespaces ?? []).map((path) => [path, false] as const)]),
    runs: new Map((hidden.runs ?? []).map((id) => [id, false])),
  };
  const artifacts = new Set(hidden.artifacts);
  return {
    principal: { kind: "user", name: "eve" },
    permission,
    rights: {
      may: (_, { namespace, runId, artifact }) => {
        if (artifact !== undefined && artifacts.has(artifact)) return false;
        return runId === undefined
          ? maskReadsNamespace(mask, namespace)
          : maskReadsRun(mask, { id: runId, namespace });
      },
      mayAnywhere: () => true,
      readable: () => mask,
      hiddenArtifacts: () => new Map(),
    },
  };
}
