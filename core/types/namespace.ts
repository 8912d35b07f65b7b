import type { CapturePolicy } from "./capture.ts";
import type { Tags } from "./run.ts";

export type Direction = "minimize" | "maximize";

export interface Objective {
  metric: string;
  direction: Direction;
}

/** A namespace by its path, or by its id. */
export type NamespaceRef = string | number;

export interface Namespace {
  /** A positive integer that is never reused. It stays when the path changes. */
  id: number;
  /** "a/b/c"; the root is "". */
  path: string;
  description: string;
  objective: Objective | undefined;
  tags: Tags;
  /** Its own; namespaces above may forbid more. */
  capture: CapturePolicy;
  createdUs: number;
  /** Since when it is in the trash, by itself or with a namespace above it; undefined outside. */
  deletedUs: number | undefined;
}

export type Picture = "line" | "accuracy" | "confusion-matrix" | "roc" | "pr" | "histogram";

/** What a metric key means in a namespace and below it. */
export interface KeyDescription {
  namespace: string;
  key: string;
  unit: string;
  direction: Direction | undefined;
  description: string;
  picture: Picture | undefined;
  /** The ends of its range. */
  min?: number | undefined;
  max?: number | undefined;
}
