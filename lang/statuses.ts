export const RUN_STATUSES = ["scheduled", "running", "finished", "failed", "killed", "lost"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Statuses in which a run is over; `endedUs` is set then. */
export const ENDED: ReadonlySet<RunStatus> = new Set(["finished", "failed", "killed", "lost"]);
