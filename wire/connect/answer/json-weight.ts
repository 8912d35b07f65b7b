import { ScalarType, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";

/*
 * How heavy a message is in JSON, estimated without making it: a walk that adds up lengths and stops at a
 * limit. Properties of a type are computed once.
 */

/** Precomputed properties of a type. */
export interface Plan {
  readonly schema: DescMessage;
  /** Must not be taken apart. */
  readonly whole: boolean;
  /** What all fields weigh together whose size hardly varies. */
  base: number;
  /** In the order of the JSON. */
  readonly fields: FieldPlan[];
  /** Those whose size varies. */
  readonly sized: FieldPlan[];
}

export interface FieldPlan {
  readonly name: string;
  readonly oneof: string | undefined;
  readonly kind: "one" | "list" | "map";
  /** The name in JSON, with its colon. */
  readonly key: string;
  /** Returns early with some number over `most`. Nothing is heavy that JSON would leave out. */
  readonly weigh: Weigh;
  readonly item: Item;
}

/** One value of a field: its only one, an element of its list, or a value of its map. */
export interface Item {
  readonly weigh: Weigh;
  /** How one that is heavy is taken apart. */
  readonly split: "text" | "bytes" | Plan | undefined;
}

type Weigh = (value: unknown, most: number) => number;

const plans = new WeakMap<DescMessage, Plan>();

export function planOf(schema: DescMessage): Plan {
  const known = plans.get(schema);
  if (known !== undefined) return known;
  const inOrder = schema.fields.toSorted((a, b) => a.number - b.number);
  // Well-known types have a JSON of their own, and a message without its required fields has none.
  const whole =
    hasCustomJsonRepresentation(schema) ||
    inOrder.some(({ presence }) => presence === FeatureSet_FieldPresence.LEGACY_REQUIRED);
  const plan: Plan = { schema, whole, base: 2, fields: [], sized: [] };
  // Known before its fields are, because a type may contain itself.
  plans.set(schema, plan);
  for (const desc of whole ? [] : inOrder) {
    const field = fieldPlan(desc);
    plan.fields.push(field);
    if (field.kind === "one" && field.item.split === undefined) plan.base += field.key.length + FIXED_WEIGHT;
    else plan.sized.push(field);
  }
  return plan;
}

function fieldPlan(desc: DescField): FieldPlan {
  const kind = desc.fieldKind === "list" || desc.fieldKind === "map" ? desc.fieldKind : "one";
  const item = itemPlan(desc);
  return {
    name: desc.localName,
    oneof: desc.oneof?.localName,
    kind,
    key: `${JSON.stringify(desc.jsonName)}:`,
    weigh: kind === "one" ? item.weigh : kind === "list" ? weighList(item) : weighMap(item),
    item,
  };
}

/** Numbers, truth values and names of enums. Large, so that many of them are not more work than long texts. */
const FIXED_WEIGHT = 16;
/** What is around an element, and around a key and its value. */
export const ELEMENT_WEIGHT = 3;
export const ENTRY_WEIGHT = 6;
/** Keys are not measured there. */
const FIXED_ENTRY_WEIGHT = 40;
const fixed: Item = { weigh: () => FIXED_WEIGHT, split: undefined };
const text: Item = { weigh: (value) => (value as string).length, split: "text" };
const bytes: Item = { weigh: (value) => ((value as Uint8Array).length * 4) / 3, split: "bytes" };

function itemPlan(desc: DescField): Item {
  if (desc.message !== undefined) {
    const plan = planOf(desc.message);
    if (plan.whole) return fixed;
    return { weigh: (value, most) => weighMessage(plan, value as Message, most), split: plan };
  }
  return desc.scalar === ScalarType.STRING ? text : desc.scalar === ScalarType.BYTES ? bytes : fixed;
}

export function weighMessage(plan: Plan, message: Message, most: number): number {
  let weight = plan.base;
  for (let i = 0; i < plan.sized.length && weight <= most; i++) {
    const field = plan.sized[i]!;
    const value = valueOf(field, message);
    // Most are short texts, and to look at them here is a third faster.
    if (typeof value === "string") weight += value.length;
    else if (value !== undefined) weight += field.weigh(value, most - weight);
  }
  return weight;
}

function weighList({ weigh, split }: Item): Weigh {
  if (split === undefined) return (values) => (values as unknown[]).length * FIXED_WEIGHT;
  return (values, most) => {
    const { length } = values as unknown[];
    let weight = length * ELEMENT_WEIGHT;
    for (let i = 0; i < length && weight <= most; i++) {
      weight += weigh((values as unknown[])[i], most - weight);
    }
    return weight;
  };
}

function weighMap({ weigh, split }: Item): Weigh {
  if (split === undefined) return (values) => Object.keys(values as object).length * FIXED_ENTRY_WEIGHT;
  return (values, most) => {
    const keys = Object.keys(values as object);
    let weight = keys.length * ENTRY_WEIGHT;
    for (let i = 0; i < keys.length && weight <= most; i++) {
      const key = keys[i]!;
      const value = (values as Fields)[key];
      weight += key.length;
      weight += typeof value === "string" ? value.length : weigh(value, most - weight);
    }
    return weight;
  };
}

export type Fields = Record<string, unknown>;

export function valueOf({ name, oneof }: FieldPlan, message: Message): unknown {
  if (oneof === undefined) return (message as unknown as Fields)[name];
  const chosen = (message as unknown as Fields)[oneof] as { case?: string; value?: unknown };
  return chosen.case === name ? chosen.value : undefined;
}
