import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { file_cairn_v1_permission } from "#proto/cairn/v1/permission_pb.ts";
import { file_cairn_v1_metric } from "#proto/cairn/v1/metric_pb.ts";
import { file_cairn_v1_run } from "#proto/cairn/v1/run_pb.ts";
import { file_cairn_v1_system } from "#proto/cairn/v1/system_pb.ts";
import { file_grpc_health_v1_health } from "#proto/grpc/health/v1/health_pb.ts";
import type { ServerReflectionRequest } from "#proto/grpc/reflection/v1/reflection_pb.ts";
import {
  registerReflection,
  ServerReflection,
  ServerReflectionAlpha,
} from "#wire/connect/services/reflection.ts";

const FILES = [file_cairn_v1_run, file_cairn_v1_metric, file_cairn_v1_system, file_grpc_health_v1_health];
const transport = createRouterTransport((router) => registerReflection(router, FILES));

type Question = Exclude<ServerReflectionRequest["messageRequest"], { case: undefined }>;

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** Sends all requests in one stream; returns names for files, or any other answer. */
async function ask(...questions: Question[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  const requests = questions.map((messageRequest) => ({ host: "h", messageRequest }));
  const client = createClient(ServerReflection, transport);
  for await (const response of client.serverReflectionInfo(each(requests))) {
    expect(response.validHost).toBe("h");
    expect(response.originalRequest?.messageRequest).toEqual(questions[answers.length]);
    const { value } = response.messageResponse;
    if (response.messageResponse.case === "fileDescriptorResponse") {
      const files = response.messageResponse.value.fileDescriptorProto;
      answers.push(files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name));
    } else {
      answers.push(value);
    }
  }
  return answers;
}

const symbol = (value: string): Question => ({ case: "fileContainingSymbol", value });
const METRIC = "cairn/v1/metric.proto";

test("services are listed, each once", async () => {
  const [answer] = await ask({ case: "listServices", value: "" });
  const names = (answer as { service: { name: string }[] }).service.map(({ name }) => name);
  expect(names).toContain("cairn.v1.SystemService");
  expect(names).toContain("grpc.health.v1.Health");
  expect(new Set(names).size).toBe(names.length);
});

test("a file is sent with everything it imports, itself first", async () => {
  const [names] = (await ask({ case: "fileByFilename", value: METRIC })) as [string[]];
  expect(names[0]).toBe(METRIC);
  expect(names).toContain("cairn/v1/permission.proto");
  expect(names).toContain("google/protobuf/descriptor.proto");
});

test("a file is sent once per stream, except on request", async () => {
  const file: Question = { case: "fileByFilename", value: METRIC };
  const [first, again, other] = (await ask(file, file, {
    case: "fileByFilename",
    value: "google/protobuf/descriptor.proto",
  })) as string[][];
  expect(first!.length).toBeGreaterThan(1);
  expect(again).toEqual([METRIC]);
  expect(other).toEqual(["google/protobuf/descriptor.proto"]);
});

test.each([
  ["cairn.v1.SystemService", "cairn/v1/system.proto"],
  [".cairn.v1.SystemService", "cairn/v1/system.proto"],
  ["cairn.v1.SystemService.VerifyRun", "cairn/v1/system.proto"],
  ["cairn.v1.WriterLedger", "cairn/v1/system.proto"],
  ["cairn.v1.WriterLedger.last_seq", "cairn/v1/system.proto"],
  ["cairn.v1.Info.EnginesEntry", "cairn/v1/system.proto"],
  ["cairn.v1.Permission", "cairn/v1/permission.proto"],
  ["cairn.v1.PERMISSION_READ", "cairn/v1/permission.proto"],
  ["cairn.v1.permission", "cairn/v1/permission.proto"],
  ["grpc.health.v1.HealthCheckResponse.ServingStatus", "grpc/health/v1/health.proto"],
  ["grpc.health.v1.HealthCheckResponse.SERVING", "grpc/health/v1/health.proto"],
  ["google.protobuf.FieldDescriptorProto.Type", "google/protobuf/descriptor.proto"],
])("symbol %s is in %s", async (name, path) => {
  const [names] = (await ask(symbol(name))) as [string[]];
  expect(names[0]).toBe(path);
});

test("extensions are found by type and number", async () => {
  const options = "google.protobuf.MethodOptions";
  const [file, numbers, none] = await ask(
    {
      case: "fileContainingExtension",
      value: {
        $typeName: "grpc.reflection.v1.ExtensionRequest",
        containingType: options,
        extensionNumber: 50_700,
      },
    },
    { case: "allExtensionNumbersOfType", value: options },
    { case: "allExtensionNumbersOfType", value: "cairn.v1.Info" },
  );
  expect((file as string[])[0]).toBe(file_cairn_v1_permission.proto.name);
  expect(numbers).toMatchObject({ baseTypeName: options, extensionNumber: [50_700] });
  expect(none).toMatchObject({ extensionNumber: [] });
});

test("an unknown name is NOT_FOUND, and the stream continues", async () => {
  const answers = await ask(
    symbol("no.Such"),
    { case: "fileByFilename", value: "no.proto" },
    { case: "allExtensionNumbersOfType", value: "no.Type" },
    symbol("cairn.v1.Info"),
  );
  for (const answer of answers.slice(0, 3)) expect(answer).toMatchObject({ errorCode: 5 });
  expect((answers[3] as string[])[0]).toBe("cairn/v1/system.proto");
});

test("v1alpha gives the same answers", async () => {
  const client = createClient(ServerReflectionAlpha, transport);
  const requests = [
    { messageRequest: { case: "listServices" as const, value: "" } },
    { messageRequest: symbol("cairn.v1.Info") as { case: "fileContainingSymbol"; value: string } },
    {},
  ];
  const cases: unknown[] = [];
  for await (const { messageResponse } of client.serverReflectionInfo(each(requests)))
    cases.push(messageResponse);
  expect(cases).toMatchObject([
    { case: "listServicesResponse" },
    { case: "fileDescriptorResponse" },
    { case: "errorResponse", value: { errorCode: 3 } },
  ]);
});
