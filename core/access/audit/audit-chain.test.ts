import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { chainHash, CHAIN_START, factsText } from "./audit-chain.ts";

describe("the chain of the audit", () => {
  it("A16 hashes as docs/formats/audit.md says", () => {
    const facts = { token: "01" };
    const record = { principal: "owner", action: "bootstrap", target: "admin", facts, timeUs: 1 };
    const expected = "355396bb7109619b8c232edb6417952eaac18d59bcb26645625fb1de153133cf";
    expect(chainHash(CHAIN_START, 1, record)).toBe(expected);
  });

  it("A16 has one text for equal facts, in whatever order they came", () => {
    expect(factsText({ b: "2", a: '"', 10: "x", 9: "y" })).toBe(
      String.raw`{"10":"x","9":"y","a":"\"","b":"2"}`,
    );
    expect(factsText({ 9: "y", a: '"', 10: "x", b: "2" })).toBe(
      factsText({ b: "2", 10: "x", 9: "y", a: '"' }),
    );
    expect(factsText({ "\u{1f600}": "", "\u{fffd}": "" })).toBe('{"\u{fffd}":"","\u{1f600}":""}');
    expect(factsText({})).toBe("{}");
  });

  it("A16 A37 keeps the text of entries from before there were tokens and addresses", () => {
    const record = { principal: "ada", action: "purge-run", target: "r", facts: {}, timeUs: 7 };
    const old = `{"action":"purge-run","facts":{},"number":3,"principal":"ada","target":"r","time_us":7}`;
    const before = "1".repeat(64);
    expect(chainHash(before, 3, record)).toBe(hash("sha256", before + old, "hex"));
    expect(chainHash(before, 3, { ...record, token: "", address: "" })).toBe(chainHash(before, 3, record));
    const full = `{"action":"purge-run","address":"10.0.0.1","facts":{},"number":3,"principal":"ada","target":"r","time_us":7,"token":"01"}`;
    expect(chainHash(before, 3, { ...record, token: "01", address: "10.0.0.1" })).toBe(
      hash("sha256", before + full, "hex"),
    );
  });

  it.each([
    { principal: "eve" },
    { action: "x" },
    { target: "x" },
    { facts: {} },
    { timeUs: 2 },
    { token: "t" },
    { address: "a" },
  ])("A16 another entry has another hash: %j", (change) => {
    const record = { principal: "a", action: "b", target: "c", facts: { d: "e" }, timeUs: 1 };
    const known = chainHash(CHAIN_START, 1, record);
    expect(chainHash(CHAIN_START, 1, { ...record, ...change })).not.toBe(known);
    expect(chainHash(CHAIN_START, 2, record)).not.toBe(known);
    expect(chainHash(known, 1, record)).not.toBe(known);
  });
});
