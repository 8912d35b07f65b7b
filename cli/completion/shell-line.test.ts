import { describe, expect, it } from "vitest";
import { readShellLine, writeForShell } from "./shell-line.ts";

const BREAKS = " \t\n\"'@><=;|&(:";

describe("lines of bash", () => {
  it.each([
    ["cairn ls", ["cairn", "ls"], "", 0],
    ["cairn ls ", ["cairn", "ls", ""], "", 0],
    ["", [""], "", 0],
    ["cairn show 'my ru", ["cairn", "show", "my ru"], "'", 0],
    ['cairn show "a\\"b \\x', ["cairn", "show", 'a"b \\x'], '"', 0],
    ["cairn show my\\ ru", ["cairn", "show", "my ru"], "", 0],
    ["cairn show local://a/b", ["cairn", "show", "local://a/b"], "", 6],
    ["cairn show --namespace=de", ["cairn", "show", "--namespace=de"], "", 12],
    ["cairn show a\\:b", ["cairn", "show", "a:b"], "", 0],
    ["echo x | cairn l", ["cairn", "l"], "", 0],
    ["true && X=1 cairn l", ["X=1", "cairn", "l"], "", 0],
    ["echo $(cairn l", ["cairn", "l"], "", 0],
    ["cairn ''", ["cairn", ""], "", 0],
    ["cairn 'a'\"b\"c", ["cairn", "abc"], "", 0],
  ])("T15 reads %j", (line, words, quote, keptLength) => {
    expect(readShellLine(line, BREAKS)).toEqual({ words, quote, keptLength });
  });

  it("T15 writes within an open quote only what is allowed there", () => {
    expect(writeForShell("it's", "'")).toBeUndefined();
    expect(writeForShell("a $b", "'")).toBe("a $b");
    expect(writeForShell('a "$b`\\', '"')).toBe('a \\"\\$b\\`\\\\');
    expect(writeForShell("hi!", '"')).toBeUndefined();
    expect(writeForShell("a b;c", "")).toBe("a\\ b\\;c");
  });
});
