import type { CairnError } from "../errors.ts";
import type { Field } from "./ast.ts";
import { type Cursor, joinKey, shown } from "./cursor.ts";
import { findKeyedField, findMetricStat, findRunField, KEYED_FIELDS, RUN_FIELDS } from "./fields.ts";
import type { DraftToken, Segment, Token } from "./lexer.ts";
import { suggestion } from "./syntax-error.ts";

/** A field and how it is called in errors. */
export interface NamedField {
  field: Field;
  name: string;
}

/** The field that a token is; undefined for any other token. */
export function fieldOf(token: DraftToken): Field | undefined {
  if (token.kind === "path") return keyedField(token);
  const name = token.kind === "word" ? findRunField(token.text) : undefined;
  return name && { of: "run", name };
}

type PathToken = Token & { kind: "path" };

function keyedField({ root, segments }: PathToken): Field | undefined {
  const key = joinKey(segments);
  switch (findKeyedField(root)) {
    case "params":
      return { of: "param", key };
    case "tags":
      return { of: "tag", key };
    case "metrics": {
      const last = segments.at(-1)!;
      const stat = segments.length > 1 && !last.quoted ? findMetricStat(last.text) : undefined;
      if (stat === undefined) return { of: "metric", key, stat: "last" };
      return { of: "metric", key: joinKey(segments.slice(0, -1)), stat };
    }
    case undefined:
      return undefined;
  }
}

export function parseField(cursor: Cursor): NamedField {
  const token = cursor.peek();
  const field = fieldOf(token);
  if (field === undefined) throw notField(cursor, token);
  cursor.step();
  return { field, name: field.of === "run" ? field.name : pathName(token as PathToken) };
}

function pathName({ root, segments }: PathToken): string {
  return `${root.toLowerCase()}.${joinKey(segments).slice(0, 40)}`;
}

function notField(cursor: Cursor, token: Token): CairnError {
  if (token.kind === "path") {
    const name = findRunField(token.root);
    if (name !== undefined) return cursor.errorAt(token, `${name} has no parts`);
    return unknownField(cursor, token, token.root, token.segments);
  }
  if (token.kind === "word") {
    const keyed = findKeyedField(token.text);
    if (keyed === undefined) return unknownField(cursor, token, token.text, []);
    return cursor.errorAt(token, `${keyed} needs a key`, {
      hint: `write ${keyed}.KEY or ${keyed}."any key"`,
    });
  }
  return cursor.unexpected(
    "a field such as status, params.lr or metrics.loss.min",
    [],
    token.kind === "string" ? "a comparison begins with its field" : undefined,
  );
}

function unknownField(cursor: Cursor, token: Token, root: string, segments: readonly Segment[]): CairnError {
  const candidates = segments.length === 0 ? [...RUN_FIELDS, "not"] : KEYED_FIELDS;
  const param = segments.length === 0 ? root : `${root}.${joinKey(segments)}`;
  return cursor.errorAt(token, `unknown field ${shown(root)}${suggestion(root, candidates)}`, {
    hint: `fields are ${RUN_FIELDS.join(", ")}; a param is written params.${param.slice(0, 40)}, likewise tags and metrics`,
  });
}
