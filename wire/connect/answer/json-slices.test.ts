import {
  create,
  createFileRegistry,
  ScalarType,
  toJsonString,
  type DescField,
  type DescMessage,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  AnySchema,
  FeatureSet_FieldPresence,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  file_google_protobuf_any,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  isWrapperDesc,
  TimestampSchema,
  ValueSchema,
  type FieldDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ListArtifactsResponseSchema } from "#proto/cairn/v1/artifact_pb.ts";
import { LineageSchema } from "#proto/cairn/v1/lineage_pb.ts";
import { ReadLogResponseSchema } from "#proto/cairn/v1/log_pb.ts";
import {
  EnvelopeSchema,
  ListSeriesResponseSchema,
  ReadGroupsResponseSchema,
  ReadSeriesResponseSchema,
} from "#proto/cairn/v1/metric_pb.ts";
import { RunSchema, SearchRunsResponseSchema } from "#proto/cairn/v1/run_pb.ts";
import { WatchEventSchema } from "#proto/cairn/v1/watch_pb.ts";
import { jsonSlices, type JsonSlicesOptions } from "./json-slices.ts";
import { dose } from "../../../tools/dose.ts";

const everything = everythingSchema();

/** A type with a field of every kind that proto3 has: alone, optional, in a oneof, in a list, in a map. */
function everythingSchema(): DescMessage {
  const { MESSAGE, ENUM, GROUP, STRING, INT32, BOOL } = FieldDescriptorProto_Type;
  const types = Array.from({ length: 18 }, (_, i): FieldDescriptorProto_Type => i + 1)
    .filter((type) => type !== GROUP)
    .map((type) => ({
      type,
      typeName: type === MESSAGE ? ".test.Everything" : type === ENUM ? ".test.Colour" : "",
    }));
  for (const name of ["Timestamp", "Struct", "Value", "Any", "Int64Value", "StringValue"]) {
    types.push({ type: MESSAGE, typeName: `.google.protobuf.${name}` });
  }
  const field: MessageInitShape<typeof FieldDescriptorProtoSchema>[] = [];
  const oneofDecl = [{ name: "choice" }];
  const nestedType: { name: string; field: typeof field; options: { mapEntry: true } }[] = [];
  const add = (one: (typeof field)[number]): number =>
    field.push({
      label: FieldDescriptorProto_Label.OPTIONAL,
      jsonName: one.name!,
      number: field.length + 1,
      ...one,
    });
  const addMap = (name: string, key: FieldDescriptorProto_Type, value: (typeof types)[number]): void => {
    const entry = [
      { name: "key", jsonName: "key", number: 1, label: FieldDescriptorProto_Label.OPTIONAL, type: key },
      { name: "value", jsonName: "value", number: 2, label: FieldDescriptorProto_Label.OPTIONAL, ...value },
    ];
    const entryName = `${name.toUpperCase()}Entry`;
    nestedType.push({ name: entryName, field: entry, options: { mapEntry: true } });
    const typeName = `.test.Everything.${entryName}`;
    add({ name, label: FieldDescriptorProto_Label.REPEATED, type: MESSAGE, typeName });
  };
  for (const [i, type] of types.entries()) {
    add({ name: `one${i}`, ...type });
    add({ name: `optional${i}`, proto3Optional: true, oneofIndex: oneofDecl.length, ...type });
    oneofDecl.push({ name: `_optional${i}` });
    add({ name: `choice${i}`, oneofIndex: 0, ...type });
    add({ name: `list${i}`, ...type, label: FieldDescriptorProto_Label.REPEATED });
    addMap(`map${i}`, STRING, type);
  }
  addMap("numbered", INT32, { type: STRING, typeName: "" });
  addMap("truths", BOOL, { type: STRING, typeName: "" });
  add({ name: "odd", jsonName: "__proto__", type: STRING });
  const imports = [
    file_google_protobuf_any,
    file_google_protobuf_struct,
    file_google_protobuf_timestamp,
    file_google_protobuf_wrappers,
  ];
  const file = create(FileDescriptorProtoSchema, {
    name: "test.proto",
    package: "test",
    syntax: "proto3",
    dependency: imports.map(({ proto }) => proto.name),
    messageType: [{ name: "Everything", field, oneofDecl, nestedType }],
    enumType: [{ name: "Colour", value: ["NONE", "RED"].map((name, number) => ({ name, number })) }],
  });
  return createFileRegistry(file, (name) => imports.find(({ proto }) => proto.name === name)).getMessage(
    "test.Everything",
  )!;
}

const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("", "__proto__", "toString", "\ud800", "😀\udc00😀".repeat(9), '"\\\n\u2028', "0", "-1"),
);
const doubles = fc.oneof(fc.double(), fc.constantFrom(NaN, Infinity, -Infinity, 0, -0, 5e-324));

function scalars(type: ScalarType): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return texts;
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 40 });
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.DOUBLE:
      return doubles;
    case ScalarType.FLOAT:
      return doubles.map(Math.fround);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat(2 ** 32 - 1);
    default:
      return fc.integer();
  }
}

/** One value of a field, as messages hold it. */
function values(field: DescField, depth: number): fc.Arbitrary<unknown> {
  if (field.scalar !== undefined) return scalars(field.scalar);
  // The last is not in the schema.
  if (field.enum !== undefined) return fc.constantFrom(...field.enum.values.map(({ number }) => number), 99);
  const desc = field.message;
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return fc.nat().map((nanos) => create(TimestampSchema, { seconds: 1n, nanos: nanos % 1e9 }));
    case "google.protobuf.Any":
      return fc.constant(create(AnySchema));
    case "google.protobuf.Value":
      return texts.map((value) => create(ValueSchema, { kind: { case: "stringValue", value } }));
    case "google.protobuf.Struct":
      return fc.dictionary(texts, fc.oneof(texts, fc.integer(), fc.array(fc.boolean())));
  }
  if (isWrapperDesc(desc) && field.fieldKind === "message" && field.oneof === undefined) {
    return scalars(desc.fields[0].scalar);
  }
  return messages(desc, depth - 1);
}

const keys = {
  [ScalarType.INT32]: fc.integer().map(String),
  [ScalarType.BOOL]: fc.constantFrom("true", "false"),
};

/** What may be assigned to a property of a message; undefined does not change it. */
function properties(field: DescField, depth: number): fc.Arbitrary<unknown> {
  if (field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED) return values(field, depth);
  if (field.message !== undefined && depth === 0) return fc.constant(undefined);
  const one = values(field, depth);
  const maxLength = field.message === undefined ? 30 : 4;
  const unset = (some: fc.Arbitrary<unknown>) => fc.option(some, { nil: undefined, freq: 3 });
  if (field.fieldKind === "list") return unset(fc.array(one, { maxLength, size: "max" }));
  if (field.fieldKind === "map") {
    const key = keys[field.mapKey as keyof typeof keys] ?? texts;
    return unset(fc.dictionary(key, one, { maxKeys: maxLength, size: "max" }));
  }
  return unset(one);
}

/** Any message of a type. */
function messages(desc: DescMessage, depth: number): fc.Arbitrary<Message> {
  const model: Record<string, fc.Arbitrary<unknown>> = {};
  for (const member of desc.members) {
    if (member.kind === "field") model[member.localName] = properties(member, depth);
    else {
      const choices = member.fields.map((field) =>
        properties(field, depth).map((value) => ({ case: field.localName, value })),
      );
      model[member.localName] = fc
        .oneof(...choices)
        .map((one) => (one.value === undefined ? undefined : one));
    }
  }
  return fc.record(model).map((fields) => {
    const set = Object.entries(fields).filter(([, value]) => value !== undefined);
    return Object.assign(create(desc), Object.fromEntries(set));
  });
}

async function textOf(schema: DescMessage, message: Message, options?: JsonSlicesOptions): Promise<string> {
  return Buffer.concat(await jsonSlices(schema, message, options)).toString();
}

/** How many turns of the event loop other work had meanwhile. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  await work.finally(() => (over = true));
  return turns;
}

const numbers = (count: number) =>
  create(ReadSeriesResponseSchema, {
    series: [{ key: "loss", values: { numbers: Array.from({ length: count }, (_, i) => Math.sin(i)) } }],
    gridWidth: 2,
  });

describe("jsonSlices", () => {
  it.each([
    [everything, 1, 60],
    [everything, 2, 15],
    [FileDescriptorProtoSchema, 3, 30],
    [ReadSeriesResponseSchema, 3, 60],
    [ReadGroupsResponseSchema, 3, 60],
    [ListSeriesResponseSchema, 3, 60],
    [SearchRunsResponseSchema, 3, 60],
    [RunSchema, 2, 60],
    [LineageSchema, 3, 60],
    [ReadLogResponseSchema, 2, 60],
    [ListArtifactsResponseSchema, 2, 60],
    [EnvelopeSchema, 3, 30],
    [WatchEventSchema, 4, 60],
  ] as const)("S27 writes the text of toJsonString: %s, %i levels", async (schema, depth, runs) => {
    await fc.assert(
      fc.asyncProperty(
        messages(schema, depth),
        fc.constantFrom(0, 1, 10, 100, 1_000, 10_000),
        fc.constantFrom(0, 1_000),
        async (message, pieceBytes, sliceMs) => {
          const text = await textOf(schema, message, { pieceBytes, sliceMs });
          expect(text).toBe(toJsonString(schema, message));
        },
      ),
      { numRuns: dose(Math.ceil(runs / 4), runs) },
    );
  });

  it("S27 writes large messages with its own sizes", async () => {
    const bytes = Uint8Array.from({ length: 200_001 }, (_, i) => i * 7);
    const params = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, i) => [`p${i}`, "x".repeat(i % 50)]),
    );
    const cases: [DescMessage, Message][] = [
      [ReadSeriesResponseSchema, numbers(50_000)],
      [ReadSeriesResponseSchema, create(ReadSeriesResponseSchema, { series: [{ steps: { bytes } }] })],
      [RunSchema, create(RunSchema, { params, notes: "a😀".repeat(100_000) })],
      [RunSchema, create(RunSchema, { aliases: Array.from({ length: 200_000 }, () => "") })],
    ];
    for (const [schema, message] of cases) {
      const pieces = await jsonSlices(schema, message);
      expect(Buffer.concat(pieces).toString() === toJsonString(schema, message)).toBe(true);
      // No slice is large.
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(256 << 10);
    }
  });

  it("S27 throws the errors of toJsonString", async () => {
    const message = numbers(50_000);
    message.series[0]!.values!.numbers[40_000] = "1" as unknown as number;
    expect(() => toJsonString(ReadSeriesResponseSchema, message)).toThrow(
      "cannot encode field cairn.v1.Column.numbers",
    );
    await expect(jsonSlices(ReadSeriesResponseSchema, message)).rejects.toThrow(
      "cannot encode field cairn.v1.Column.numbers",
    );
  });

  it("S27 other work runs while a long message is made", async () => {
    const work = jsonSlices(ReadSeriesResponseSchema, numbers(100_000), { sliceMs: 0 });
    expect(await turnsDuring(work)).toBeGreaterThan(20);
  });

  it("S27 works on one of several messages in each turn", async () => {
    const message = numbers(100_000);
    const start = () => jsonSlices(ReadSeriesResponseSchema, message, { sliceMs: 0 });
    const alone = await turnsDuring(start());
    const together = await turnsDuring(Promise.all([start(), start(), start()]));
    expect(together).toBeGreaterThan(alone * 2);
  });

  it("S27 makes a small message at once", async () => {
    const work = jsonSlices(ReadSeriesResponseSchema, numbers(1_000), { sliceMs: 0 });
    expect(await turnsDuring(work)).toBe(0);
    expect(await work).toHaveLength(1);
  });

  it("S27 stops when the signal is aborted", async () => {
    const controller = new AbortController();
    const options = { sliceMs: 0, signal: controller.signal };
    const reason = new Error("the client disconnected");
    const message = numbers(100_000);
    const whole = await turnsDuring(jsonSlices(ReadSeriesResponseSchema, message, options));
    const work = jsonSlices(ReadSeriesResponseSchema, message, options);
    setImmediate(() => controller.abort(reason));
    const turns = await turnsDuring(expect(work).rejects.toBe(reason));
    expect(turns).toBeLessThan(whole / 2);
    await expect(jsonSlices(RunSchema, create(RunSchema), options)).rejects.toBe(reason);
  });
});
