import type { CairnError } from "../errors.ts";
import type { Field, ModelField, QueryField } from "./ast.ts";
import { type Cursor, joinKey, shown } from "./cursor.ts";
import {
  findKeyedField,
  findMetricStat,
  findModelField,
  findRunField,
  KEYED_FIELDS,
  MODEL_FIELDS,
  RUN_FIELDS,
} from "./fields.ts";
import type { DraftToken, Segment, Token } from "./lexer.ts";
import { suggestion } from "./syntax-error.ts";

/** A field and how it is called in errors. */
export interface NamedField<F extends QueryField = QueryField> {
  field: F;
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

/** A field of a run. */
export function parseField(cursor: Cursor): NamedField<Field> {
  const token = cursor.peek();
  const field = fieldOf(token);
  if (field === undefined) throw notField(cursor, token);
  cursor.step();
  return { field, name: field.of === "run" ? field.name : pathName(token as PathToken) };
}

/** A field of a model or of its run. */
export function parseModelField(cursor: Cursor): NamedField {
  const token = cursor.peek();
  if (!isModels(token)) return parseField(cursor);
  const field = modelFieldOf(token);
  if (field === undefined) throw unknownModelField(cursor, token);
  cursor.step();
  return { field, name: `${MODEL}.${field.name}` };
}

const MODEL = "model";

/** Whether it is meant as a field of a model. */
function isModels(token: Token): boolean {
  const root = token.kind === "path" ? token.root : token.kind === "word" ? token.text : "";
  return root.toLowerCase() === MODEL;
}

function modelFieldOf(token: Token): ModelField | undefined {
  if (token.kind !== "path" || token.segments.length !== 1) return undefined;
  const name = findModelField(token.segments[0]!.text);
  return name && { of: MODEL, name };
}

function unknownModelField(cursor: Cursor, token: Token): CairnError {
  const hint = `fields of models are ${MODEL_FIELDS.map((name) => `${MODEL}.${name}`).join(", ")}`;
  if (token.kind !== "path") return cursor.errorAt(token, `${MODEL} needs a field`, { hint });
  const name = joinKey(token.segments);
  const problem = `unknown field ${shown(`${MODEL}.${name}`)}${suggestion(name, MODEL_FIELDS)}`;
  return cursor.errorAt(token, problem, { hint });
}

function pathName({ root, segments }: PathToken): string {
  return `${root.toLowerCase()}.${joinKey(segments).slice(0, 40)}`;
}

function notField(cursor: Cursor, token: Token): CairnError {
  if (isModels(token)) {
    return cursor.errorAt(token, `${MODEL} has fields only in a search of models`, {
      hint: `search models with ArtifactService.SearchModels; a param is written params.${MODEL}`,
    });
  }
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
