import { Watched } from "./watched.ts";

/**
 * The highlighted run, which is under the pointer: its line in every chart and its row in every table are highlighted.
 */
export const highlightedRun = new Watched<string | undefined>(undefined);
