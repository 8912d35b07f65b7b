import type { JsonObject } from "@bufbuild/protobuf";
import type { Marker, WalkTarget, World } from "./walk-world.ts";

/**
 * The target of a call, which decides who is refused:
 * - `run`, `artifact`, `namespace`: the target. Other callers get not found.
 * - `list`: everything, of which each caller gets what it may read.
 * - `server`: the whole server, or another principal. Only administrators of the root.
 * - `public`: nothing; no credential is required, and `why` is the reason.
 */
export type About = "run" | "artifact" | "namespace" | "list" | "server" | "public";

interface Row {
  about: About;
  why?: string;
  /** The target of the successful call, if that is not the plain run. */
  on?: (world: World) => WalkTarget;
  /** Kinds of markers that are shown to others on purpose. */
  shows?: readonly Marker["of"][];
  /** Ends the credential of the call. */
  spends?: boolean;
  /** The order of the successful calls: higher for those that destroy something the others need. */
  late?: number;
}

export interface MethodRow extends Row {
  /** As "package.Service/Method". */
  name: string;
  message(world: World, target: WalkTarget): JsonObject;
  endless?: boolean;
}

export interface RouteRow extends Row {
  /** As "GET /path". */
  name: string;
  path(world: World, target: WalkTarget): string;
  headers?: Record<string, string>;
  body?: string | ((world: World) => string);
}

export const byId = (_: World, { runId }: WalkTarget): JsonObject => ({ run: { id: runId } });
export const byName = (world: World, target: WalkTarget): JsonObject => ({
  ...byId(world, target),
  name: target.artifact,
});
export const trashed = (world: World): WalkTarget => world.trashed;
