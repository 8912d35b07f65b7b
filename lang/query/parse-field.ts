import type { CairnError } from "../errors.ts";
import type { Field } from "./ast.ts";
import { type Cursor, joinKey, shown } from "./cursor.ts";
import { findKeyedField, findMetricStat, findRunField, KEYED_FIELDS, RUN_FIELDS } from "./fields.ts";
import type { Segment, Token } from "./lexer.ts";
import { suggestion } from "./syntax-error.ts";

/** A field and how it is called in errors. */
export interface NamedField {
  field: Field;
  name: string;
}

export function parseField(cursor: Cursor): NamedField {
  const token = cursor.peek();
  if (token.kind === "path") {
    cursor.step();
    return {
      field: keyedField(cursor, token),
      name: `${token.root.toLowerCase()}.${joinKey(token.segments).slice(0, 40)}`,
    };
  }
  if (token.kind !== "word") {
    throw cursor.unexpected(
      "a field such as status, params.lr or metrics.loss.min",
      [],
      token.kind === "string" ? "a comparison begins with its field" : undefined,
    );
  }
  const keyed = findKeyedField(token.text);
  if (keyed !== undefined) {
    throw cursor.errorAt(token, `${keyed} needs a key`, { hint: `write ${keyed}.KEY or ${keyed}."any key"` });
  }
  const name = findRunField(token.text);
  if (name === undefined) throw unknownField(cursor, token, token.text, []);
  cursor.step();
  return { field: { of: "run", name }, name };
}

function keyedField(cursor: Cursor, token: Token & { kind: "path" }): Field {
  const { root, segments } = token;
  const keyed = findKeyedField(root);
  if (keyed === undefined) {
    const name = findRunField(root);
    if (name !== undefined) throw cursor.errorAt(token, `${name} has no parts`);
    throw unknownField(cursor, token, root, segments);
  }
  if (keyed === "params") return { of: "param", key: joinKey(segments) };
  if (keyed === "tags") return { of: "tag", key: joinKey(segments) };
  const last = segments.at(-1)!;
  const stat = segments.length > 1 && !last.quoted ? findMetricStat(last.text) : undefined;
  if (stat === undefined) return { of: "metric", key: joinKey(segments), stat: "last" };
  return { of: "metric", key: joinKey(segments.slice(0, -1)), stat };
}

function unknownField(cursor: Cursor, token: Token, root: string, segments: readonly Segment[]): CairnError {
  const candidates = segments.length === 0 ? [...RUN_FIELDS, "not"] : KEYED_FIELDS;
  const param = segments.length === 0 ? root : `${root}.${joinKey(segments)}`;
  return cursor.errorAt(token, `unknown field ${shown(root)}${suggestion(root, candidates)}`, {
    hint: `fields are ${RUN_FIELDS.join(", ")}; a param is written params.${param.slice(0, 40)}, likewise tags and metrics`,
  });
}
