import type { CapturePolicy } from "./capture.ts";

export type Direction = "minimize" | "maximize";

export interface Objective {
  metric: string;
  direction: Direction;
}

export interface Namespace {
  /** "a/b/c"; the root is "". */
  path: string;
  description: string;
  objective: Objective | undefined;
  /** Its own; namespaces above may forbid more. */
  capture: CapturePolicy;
  createdUs: number;
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
}
