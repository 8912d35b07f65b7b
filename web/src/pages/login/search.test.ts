import { expect, it } from "vitest";
import { readLoginSearch } from "./search.ts";

it("Z76 the sign-in leads back to a page of this server and nowhere else", () => {
  for (const next of ["/", "/n/demo?q=a%20%3D%201", "/r/01a1", "/compare?runs=a,b#x"]) {
    expect(readLoginSearch({ next })).toEqual({ next });
  }
  const elsewhere = [
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    "n/demo",
    "/login?next=/x",
    "",
    7,
    null,
    ["/"],
    "/a\\b",
  ];
  for (const next of elsewhere) expect(readLoginSearch({ next }), String(next)).toEqual({});
});
