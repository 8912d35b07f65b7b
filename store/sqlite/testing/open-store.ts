/** Runs in a process of its own: opens the store in a directory, prints the result, and closes or stays. */
import { join } from "node:path";
import { CairnError } from "#lang/errors.ts";
import { openIn } from "./under-test.ts";

const [, , directory, then] = process.argv;
try {
  const { engine } = await openIn(directory!, join(directory!, "data"));
  process.stdout.write("opened");
  if (then === "stay") setInterval(() => undefined, 1_000);
  else await engine.close();
} catch (thrown) {
  const { code, reason, hint } = CairnError.from(thrown);
  process.stdout.write(JSON.stringify({ code, reason, hint }));
}
