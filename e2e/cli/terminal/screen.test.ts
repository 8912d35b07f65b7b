import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { openPseudoTerminal, type PseudoTerminal } from "../testing/pseudo-terminal.ts";

const SCRIPT = fileURLToPath(new URL("../testing/throwing-screen.ts", import.meta.url));

describe("openScreen", () => {
  let terminal: PseudoTerminal;
  afterEach(() => terminal.close());

  it.each([
    ["throw", 1, "thrown on purpose"],
    ["reject", 1, "rejected on purpose"],
    ["exit", 3, ""],
  ])(
    "T47 gives the terminal back when a program ends by %s, and the reason can be read",
    async (way, code, reason) => {
      terminal = openPseudoTerminal([way], { script: SCRIPT });
      const { screen } = terminal;
      await expect.poll(() => screen.alternate && screen.line(0) === "taken").toBe(true);
      expect(await terminal.ended).toBe(code);
      expect({ ...statesOf(terminal) }).toEqual({ alternate: false, cursorVisible: true, wraps: true });
      expect(screen.text).toContain(reason);
      expect(screen.text).not.toContain("taken");
    },
  );

  it.each([
    [15, 143],
    [1, 129],
  ])("T47 gives the terminal back on signal %i and ends as it would have", async (signal, code) => {
    terminal = openPseudoTerminal(["wait"], { script: SCRIPT });
    await expect.poll(() => terminal.screen.line(0)).toBe("taken");
    terminal.kill(signal);
    expect(await terminal.ended).toBe(code);
    expect(statesOf(terminal)).toEqual({ alternate: false, cursorVisible: true, wraps: true });
  });
});

function statesOf({ screen: { alternate, cursorVisible, wraps } }: PseudoTerminal) {
  return { alternate, cursorVisible, wraps };
}
