import {
  create,
  toJson,
  toJsonString,
  type DescMessage,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import {
  ELEMENT_WEIGHT,
  ENTRY_WEIGHT,
  planOf,
  valueOf,
  weighMessage,
  type FieldPlan,
  type Fields,
  type Item,
  type Plan,
} from "./json-weight.ts";

/*
 * An answer of tens of megabytes takes seconds to become JSON, and the thread that does it serves all requests.
 * Here it is done in slices, with other requests served in between.
 *
 * Nothing is written by hand that the library can write: a part of a large message is a message of the same
 * type with only that part in it. Of 10,000 runs the first 60 become {"runs":[…60…]}, and what is between
 * the brackets is kept. Only what is heavy by itself is taken apart: a message into its fields, a list or a
 * map into its elements, a long text or long bytes into pieces. The result is the text that toJsonString()
 * makes, to the byte.
 *
 * What is heavy is estimated first (json-weight.ts). For a small message that is all it costs.
 */

/** An estimate of how much is made at a time: about half a millisecond of work. */
const PIECE_BYTES = 64 << 10;
const SLICE_MS = 5;

export interface JsonSlicesOptions {
  /** How long to work before other work has its turn. */
  readonly sliceMs?: number;
  /** Stops the work at the end of a slice: the promise is rejected with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** A message of up to about so many bytes is made at once, a larger one in parts of about this size. */
  readonly pieceBytes?: number;
}

/**
 * The JSON of a message with the default options, as pieces to be sent one after another. The message must
 * not change until the promise is settled. Of all calls that are under way, one works in each turn of the
 * event loop. Rejects where toJsonString() throws.
 */
export async function jsonSlices<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  { sliceMs = SLICE_MS, signal, pieceBytes = PIECE_BYTES }: JsonSlicesOptions = {},
): Promise<Uint8Array[]> {
  signal?.throwIfAborted();
  const plan = planOf(schema);
  if (plan.whole || weighMessage(plan, message, pieceBytes) <= pieceBytes) {
    return [encoder.encode(toJsonString(schema, message))];
  }
  return new Slicer(sliceMs, signal, pieceBytes).run(plan, message);
}

const encoder = new TextEncoder();

/** One large message in progress. */
class Slicer {
  readonly #sliceMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #pieceBytes: number;
  readonly #pieces: Uint8Array[] = [];
  /** What is not in a piece yet. */
  #text = "";
  /** What must be between the last thing written and the next. */
  #comma = "";
  #until = 0;

  constructor(sliceMs: number, signal: AbortSignal | undefined, pieceBytes: number) {
    this.#sliceMs = sliceMs;
    this.#signal = signal;
    this.#pieceBytes = pieceBytes;
  }

  async run(plan: Plan, message: Message): Promise<Uint8Array[]> {
    await this.#rest();
    await this.#message("", plan, message);
    this.#cut();
    return this.#pieces;
  }

  /** Whatever is made at once comes in here. Returns whether the slice is over; then call `#rest`. */
  #write(part: string): boolean {
    this.#text += part;
    if (this.#text.length >= this.#pieceBytes) this.#cut();
    return performance.now() >= this.#until;
  }

  #cut(): void {
    if (this.#text !== "") this.#pieces.push(encoder.encode(this.#text));
    this.#text = "";
  }

  async #rest(): Promise<void> {
    await nextTurn();
    this.#signal?.throwIfAborted();
    this.#until = performance.now() + this.#sliceMs;
  }

  /** Several values with commas between them, or none. */
  #items(part: string): boolean {
    if (part === "") return false;
    const between = this.#comma;
    this.#comma = ",";
    return this.#write(between + part);
  }

  #open(before: string): void {
    this.#text += this.#comma + before;
    this.#comma = "";
  }

  #close(after: string): void {
    this.#text += after;
    this.#comma = ",";
  }

  async #message(before: string, plan: Plan, message: Message): Promise<void> {
    this.#open(`${before}{`);
    // Fields that are not heavy are written together, as far as that is not heavy.
    let light = create(plan.schema);
    let weight = 0;
    for (const field of plan.fields) {
      // A default that a message inherits is not set.
      if (field.oneof === undefined && !Object.hasOwn(message, field.name)) continue;
      const value = valueOf(field, message);
      if (value === undefined) continue;
      const added = field.weigh(value, this.#pieceBytes);
      const heavy = added > this.#pieceBytes && (field.kind !== "one" || field.item.split !== undefined);
      if (weight > 0 && (heavy || weight + added > this.#pieceBytes)) {
        if (this.#items(fieldsOf(plan, light))) await this.#rest();
        light = create(plan.schema);
        weight = 0;
      }
      if (heavy) await this.#field(plan, field, value);
      else {
        setValue(field, light, value);
        weight += field.key.length + added;
      }
    }
    if (this.#items(fieldsOf(plan, light))) await this.#rest();
    this.#close("}");
  }

  #field(plan: Plan, field: FieldPlan, value: unknown): Promise<void> {
    if (field.kind === "list") return this.#list(plan, field, value as unknown[]);
    if (field.kind === "map") return this.#map(plan, field, value as Fields);
    return this.#heavy(field.key, field.item, value);
  }

  async #list(plan: Plan, field: FieldPlan, values: unknown[]): Promise<void> {
    this.#open(`${field.key}[`);
    let start = 0;
    let weight = 0;
    for (let i = 0; i < values.length; i++) {
      const added = field.item.weigh(values[i], this.#pieceBytes);
      const heavy = added > this.#pieceBytes && field.item.split !== undefined;
      if (i > start && (heavy || weight + added > this.#pieceBytes)) {
        if (this.#items(elementsOf(plan, field, values.slice(start, i)))) await this.#rest();
        start = i;
        weight = 0;
      }
      if (heavy) {
        await this.#heavy("", field.item, values[i]);
        start = i + 1;
      } else weight += ELEMENT_WEIGHT + added;
    }
    this.#items(elementsOf(plan, field, values.slice(start)));
    this.#close("]");
  }

  async #map(plan: Plan, field: FieldPlan, values: Fields): Promise<void> {
    this.#open(`${field.key}{`);
    let light = emptyMap();
    let weight = 0;
    for (const key of Object.keys(values)) {
      const value = values[key];
      const added = field.item.weigh(value, this.#pieceBytes);
      const heavy = added > this.#pieceBytes && field.item.split !== undefined;
      if (weight > 0 && (heavy || weight + added > this.#pieceBytes)) {
        if (this.#items(elementsOf(plan, field, light))) await this.#rest();
        light = emptyMap();
        weight = 0;
      }
      if (heavy) await this.#heavy(`${JSON.stringify(key)}:`, field.item, value);
      else {
        light[key] = value;
        weight += ENTRY_WEIGHT + key.length + added;
      }
    }
    this.#items(elementsOf(plan, field, light));
    this.#close("}");
  }

  #heavy(before: string, { split }: Item, value: unknown): Promise<void> {
    if (split === "text") return this.#longText(before, value as string);
    if (split === "bytes") return this.#longBytes(before, value as Uint8Array);
    return this.#message(before, split!, value as Message);
  }

  async #longText(before: string, value: string): Promise<void> {
    this.#open(`${before}"`);
    for (let start = 0, end: number; start < value.length; start = end) {
      end = start + Math.max(1, this.#pieceBytes);
      // The halves of a pair stay together: alone, they would be written as escapes.
      if ((value.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
      if (this.#write(JSON.stringify(value.slice(start, end)).slice(1, -1))) await this.#rest();
    }
    this.#close('"');
  }

  async #longBytes(before: string, value: Uint8Array): Promise<void> {
    this.#open(`${before}"`);
    const all = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    // Three bytes are four characters, without padding.
    const step = 3 * Math.max(1, Math.floor(this.#pieceBytes / 4));
    for (let start = 0; start < all.length; start += step) {
      if (this.#write(all.toString("base64", start, start + step))) await this.#rest();
    }
    this.#close('"');
  }
}

function setValue({ name, oneof }: FieldPlan, message: Message, value: unknown): void {
  (message as unknown as Fields)[oneof ?? name] = oneof === undefined ? value : { case: name, value };
}

/** Without a prototype: "__proto__" is a key like any other, and thousands of keys are added fast. */
function emptyMap(): Fields {
  return Object.create(null) as Fields;
}

/** What is between the braces. */
function fieldsOf({ schema }: Plan, message: Message): string {
  return JSON.stringify(toJson(schema, message)).slice(1, -1);
}

/** Elements of a list or entries of a map, without what is around them. */
function elementsOf({ schema }: Plan, field: FieldPlan, some: unknown): string {
  const message = create(schema);
  setValue(field, message, some);
  return JSON.stringify(toJson(schema, message)).slice(field.key.length + 2, -2);
}

const waiting: (() => void)[] = [];

/** Resolves in a later turn of the event loop, for one at a time: two slices in one turn would be a long one. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(wakeOne);
  });
}

function wakeOne(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(wakeOne);
}
