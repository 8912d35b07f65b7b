import { expect, it } from "vitest";
import { contentPath } from "./content-path.ts";

it("F1 the path of content encodes an untrusted name, and never leads to another run", () => {
  expect(contentPath({ runId: "r", name: "a b/c?#%.png", step: 3n })).toBe(
    "/artifacts/r/a%20b/c%3F%23%25.png?step=3",
  );
  expect(contentPath({ runId: "r", name: "a.b/...", step: 0 })).toBe("/artifacts/r/a.b/...?step=0");
  for (const name of ["..", "a/../../x", "./a"]) {
    expect(() => contentPath({ runId: "r", name }), name).toThrow("a part of dots alone");
  }
});
