/** A thread whose work continues until it is cancelled. */
import { parentPort } from "node:worker_threads";
import { throwIfCancelled } from "../threads/cancellation.ts";
import { serveCalls } from "../threads/worker-call.ts";

export interface CountingApi {
  /** Sets the first number of `begun` to 1 when it begins. */
  countForever(begun: Int32Array): number;
  count(): number;
  /** Which calls were begun. */
  begun(): string[];
}

const begun: string[] = [];

serveCalls<CountingApi>(
  parentPort!,
  {
    countForever: (started) => {
      begun.push("countForever");
      Atomics.store(started, 0, 1);
      Atomics.notify(started, 0);
      for (;;) throwIfCancelled();
    },
    count: () => {
      begun.push("count");
      return 1;
    },
    begun: () => begun,
  },
  (thrown) => ({ text: String(thrown) }),
);
