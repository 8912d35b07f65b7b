import { Watched } from "./watched.ts";

/** The run under the pointer, wherever that is: its line in every chart and its row in every table light up. */
export const litRun = new Watched<string | undefined>(undefined);
