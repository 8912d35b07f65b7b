import { setTimeout } from "node:timers/promises";
import { FLOODS } from "#server/testing/floods.ts";
import { FRAME, frame, PREFACE } from "#server/testing/frames.ts";
import { RawClient } from "#server/testing/raw-client.ts";

/** A process of its own, so that the cost of the attacker is not measured as that of the server. */
export interface Attack {
  port: number;
  name: string;
  times: number;
}

const CLOSED_MS_MAX = 60_000;

/** Again and again, each time until the server has closed the connection. */
async function attack({ port, name, times }: Attack): Promise<void> {
  const bytes = FLOODS.find(([known]) => known === name)![1]();
  for (let time = 0; time < times; time++) {
    const attacker = await RawClient.connect(port);
    attacker.socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), bytes]));
    const over = new AbortController();
    const late = setTimeout(CLOSED_MS_MAX, "late", { signal: over.signal }).catch(() => "aborted");
    const end = await Promise.race([attacker.closed(), late]);
    over.abort();
    if (end === "late") throw new Error(`the server did not close connection ${time} in ${CLOSED_MS_MAX} ms`);
  }
}

process.on("message", (message) => {
  attack(message as Attack).then(
    () => process.send!({ done: true }),
    (thrown: unknown) => process.send!({ failed: String(thrown) }),
  );
});
