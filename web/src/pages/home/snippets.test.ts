import { describe, expect, it } from "vitest";
import { demoCommand, snippets, wheelUrl } from "./snippets.ts";

const open = { url: "http://127.0.0.1:4700", version: "1.2.3", needsToken: false };
const team = { url: "https://cairn.example.org", version: "1.2.3", needsToken: true };
const textsOf = (here: typeof open) =>
  snippets(here)
    .flatMap(({ needs, text }) => [needs, text])
    .concat(demoCommand(here));

describe("the snippets of the start page", () => {
  it("Z205 they need no checkout, and never a package of that name by somebody else", () => {
    for (const text of [...textsOf(open), ...textsOf(team)]) {
      expect(text).not.toMatch(/sdk\/python|\.\/sdk|npx cairn|npm start/);
      expect(text).not.toMatch(/(pip|npm) install cairn(\s|$)/);
    }
  });

  it("Z205 they install the package of this server, at its own address and version", () => {
    expect(wheelUrl(team)).toBe("https://cairn.example.org/install/cairn_tracker-1.2.3-py3-none-any.whl");
    const [python, torchx] = snippets(open);
    expect(python.needs).toBe(
      "pip install http://127.0.0.1:4700/install/cairn_tracker-1.2.3-py3-none-any.whl",
    );
    expect(torchx.needs).toBe(`${python.needs} torchx`);
  });

  it("Z205 where a credential is needed, the clients take that of cairn login", () => {
    for (const { title, needs, text } of snippets(team)) {
      if (title === "curl") expect(text).toContain("authorization: Bearer TOKEN");
      else if (title === "Node") expect(needs).toBe("npm install cairn-sdk\nexport CAIRN_TOKEN=TOKEN");
      else {
        expect(needs.split("\n").at(-1)).toBe("cairn login https://cairn.example.org");
        expect(text).not.toContain("TOKEN");
      }
    }
    expect(demoCommand(team)).toBe(
      "cairn login https://cairn.example.org\ncairn demo --server https://cairn.example.org",
    );
    for (const { needs } of snippets(open)) expect(needs).not.toContain("login");
  });
});
