import { expect, it } from "vitest";
import { splitEnvironment } from "./packages.ts";

const split = (environment: Record<string, string>) => splitEnvironment(new Map(Object.entries(environment)));

it.each([
  { packages: '{"torch":"2.6.0","@x/y":1.2}' },
  { packages: '["torch==2.6.0","@x/y@1.2"]' },
  { packages: "# frozen\ntorch==2.6.0\n\n@x/y 1.2\n" },
  { "package:torch": "2.6.0", "package:@x/y": "1.2" },
])("M7 packages are found in %j", (environment) => {
  expect(split({ ...environment, os: "Linux" })).toEqual({
    packages: new Map([
      ["torch", "2.6.0"],
      ["@x/y", "1.2"],
    ]),
    others: new Map([["os", "Linux"]]),
  });
});

it("M7 text that is not a list of packages is a package without a version", () => {
  expect(split({ packages: "numpy" }).packages).toEqual(new Map([["numpy", ""]]));
  expect(split({ packages: "7" }).packages).toEqual(new Map([["7", ""]]));
});
