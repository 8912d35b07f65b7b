import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { permissionTable } from "../permission.ts";
import { SERVICES } from "./services.ts";

const DOCUMENT = readFileSync(new URL("../../../docs/api.md", import.meta.url), "utf8");
/** A row of the table of methods; the name of the service is only in its first one. */
const ROW = /^\| (\w*) ?\| ([\w, ]+) \| (\w+) \|/;

it("docs/api.md has every method with its permission, and no other", () => {
  const table = DOCUMENT.slice(DOCUMENT.indexOf("\n## Methods\n"), DOCUMENT.indexOf("\n**Pages.**"));
  const documented = new Map<string, string>();
  let service = "";
  for (const line of table.split("\n")) {
    const [, name = "", methods, permission] = ROW.exec(line) ?? [];
    if (methods === undefined || name === "service") continue;
    if (name !== "") service = name;
    for (const method of methods.split(", ")) documented.set(`cairn.v1.${service}/${method}`, permission!);
  }
  expect(documented).toEqual(permissionTable(SERVICES.map((desc) => ({ desc }))));
});
