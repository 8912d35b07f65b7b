/** What works in a browser, too: reading, and everything else the API offers. It does not depend on Node. */
export { Cairn, type ServerAddress } from "./client.ts";
export { Failure } from "./failure.ts";
export type { Connection, FollowOptions } from "./follow-stream.ts";
export { setObjective } from "./objective.ts";
export { isTransient, retry, type RetryOptions } from "./retry.ts";
export { watch } from "./watch.ts";
