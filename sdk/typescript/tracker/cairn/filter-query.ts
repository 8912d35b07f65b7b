import { printField } from "#lang/query/field-text.ts";
import { quoteText } from "#lang/query/quote.ts";

/**
 * A query that selects runs whose tag or param of each key has this value. Values are texts, as on a command line, so
 * `lr = "0.1"` also finds the number 0.1, and `"true"` the truth value. Empty without filters.
 */
export function filterQuery(filters: Readonly<Record<string, string | null | undefined>>): string {
  return Object.entries(filters)
    .filter((entry): entry is [string, string] => typeof entry[1] === "string")
    .map(([key, value]) => {
      const text = quoteText(value);
      const param = printField({ of: "param", key });
      const choices = [`${printField({ of: "tag", key })} = ${text}`, `${param} = ${text}`];
      if (isNumber(value) || value === "true" || value === "false") choices.push(`${param} = ${value}`);
      return `(${choices.join(" or ")})`;
    })
    .join(" and ");
}

function isNumber(text: string): boolean {
  return (
    /^-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text) && Number.isFinite(Number(text))
  );
}
