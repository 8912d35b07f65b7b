import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useCompletionServer } from "../testing/completion-server.ts";
import { runOnTerminal } from "../testing/pty.ts";

const { bin, env } = useCompletionServer();

it("T15 works with the tab key in bash", async () => {
  const rc = join(bin, "rc");
  await writeFile(rc, "PS1='ready> '\nbind 'set bell-style none'\nsource <(cairn completion bash)\n");
  const pty = runOnTerminal(`bash --noprofile --rcfile ${rc} -i`, { ...env(), SHELL: "/bin/bash" });
  await pty.shows("ready> ");
  pty.type("echo start; cairn verify sec\t");
  await pty.shows("cairn verify second\\ run");
  pty.type("\recho the-end\rexit\r");
  await pty.shows("0 of 0 envelopes");
  expect(await pty.ended).toBe(0);
});
