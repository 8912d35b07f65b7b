import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { useCompletionServer } from "../testing/completion-server.ts";

const { env } = useCompletionServer();

it("T15 completes in fish", async () => {
  const script = "cairn completion fish | source; complete -C 'cairn verify fi'";
  const { stdout } = await promisify(execFile)("fish", ["-c", script], { env: env() });
  expect(stdout).toMatch(/^first\t/);
});
