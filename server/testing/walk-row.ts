import type { JsonObject } from "@bufbuild/protobuf";
import type { Marker, WalkTarget, World } from "./walk-world.ts";

/**
 * What a call is about, and so who is refused:
 * - `run`, `artifact`, `namespace`: the target. Others find nothing there.
 * - `list`: everything, of which each caller gets what it may read.
 * - `server`: the whole server, or somebody else. Only administrators of the root.
 * - `public`: nothing; no credential is needed, and `why` says why that is right.
 */
export type About = "run" | "artifact" | "namespace" | "list" | "server" | "public";

interface Row {
  about: About;
  why?: string;
  /** What it is called on when it is to succeed, where that is not the plain run. */
  on?: (world: World) => WalkTarget;
  /** Kinds of markers that are shown to others on purpose. */
  shows?: readonly Marker["of"][];
  /** Ends what the call was made with. */
  spends?: boolean;
  /** Of those that succeed: higher for what destroys something the ones before it need. */
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
