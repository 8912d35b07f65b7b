import { expect, it } from "vitest";
import { EXIT } from "../cli.ts";
import { printTableField, readTableField } from "./table-field.ts";

it.each([
  ["Age", { of: "age" }],
  ["name", { of: "run", name: "name" }],
  ["metrics.loss.min", { of: "metric", key: "loss", stat: "min" }],
  ["metrics.loss.MIN", { of: "metric", key: "loss.MIN", stat: "last" }],
])("T21 the column %s is read as the server reads it", (text, field) => {
  expect(readTableField(text)).toEqual(field);
  expect(readTableField(printTableField(readTableField(text)))).toEqual(field);
});

it("T21 a wrong column is a wrong command line, with a suggestion and the valid columns", () => {
  const error = expect.objectContaining({
    exitCode: EXIT.usage,
    message: expect.stringContaining('unknown field "staus" (did you mean status?)'),
    hint: expect.stringMatching(/^columns are age, id, name, .*metrics\.KEY\.STAT$/),
  });
  expect(() => readTableField("staus")).toThrow(error);
});
