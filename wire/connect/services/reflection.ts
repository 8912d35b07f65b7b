import { type DescFile, toBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { Code, type ConnectRouter } from "@connectrpc/connect";
import { quote } from "#lang/errors.ts";
import { ServerReflection } from "#proto/grpc/reflection/v1/reflection_pb.ts";
import type { ServerReflectionRequest } from "#proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "#proto/grpc/reflection/v1alpha/reflection_pb.ts";
import type { ServerReflectionRequest as ServerReflectionRequestAlpha } from "#proto/grpc/reflection/v1alpha/reflection_pb.ts";

/** Public: the contract is not secret, the data is. */
export { ServerReflection, ServerReflectionAlpha };

type Question = ServerReflectionRequest["messageRequest"] | ServerReflectionRequestAlpha["messageRequest"];

type Answer =
  | { case: "fileDescriptorResponse"; value: { fileDescriptorProto: Uint8Array[] } }
  | { case: "allExtensionNumbersResponse"; value: { baseTypeName: string; extensionNumber: number[] } }
  | { case: "listServicesResponse"; value: { service: { name: string }[] } }
  | { case: "errorResponse"; value: { errorCode: number; errorMessage: string } };

/** gRPC server reflection, versions v1 and v1alpha, over `files` and everything they import. */
export function registerReflection(router: ConnectRouter, files: readonly DescFile[]): void {
  const index = new Index(files);
  router.service(ServerReflection, {
    async *serverReflectionInfo(requests) {
      const sent = new Set<string>();
      for await (const request of requests) {
        const messageResponse = index.answer(request.messageRequest, sent);
        yield { validHost: request.host, originalRequest: request, messageResponse };
      }
    },
  });
  router.service(ServerReflectionAlpha, {
    async *serverReflectionInfo(requests) {
      const sent = new Set<string>();
      for await (const request of requests) {
        const messageResponse = index.answer(request.messageRequest, sent);
        yield { validHost: request.host, originalRequest: request, messageResponse };
      }
    },
  });
}

class Index {
  readonly #services: { name: string }[];
  readonly #files = new Map<string, DescFile>();
  readonly #bytes = new Map<string, Uint8Array>();
  /** By full name: services, methods, messages, fields, oneofs, enums, their values and extensions. */
  readonly #symbols = new Map<string, DescFile>();
  /** By message, then by number. */
  readonly #extensions = new Map<string, Map<number, DescFile>>();
  readonly #messages = new Set<string>();

  constructor(files: readonly DescFile[]) {
    for (const file of files) this.#addFile(file);
    const names = new Set(files.flatMap((file) => file.services.map((service) => service.typeName)));
    this.#services = [...names].sort().map((name) => ({ name }));
  }

  /** `sent` holds the files this caller has seen, so that it gets each import once. */
  answer(question: Question, sent: Set<string>): Answer {
    switch (question.case) {
      case "listServices":
        return { case: "listServicesResponse", value: { service: this.#services } };
      case "fileByFilename":
        return this.#fileAnswer(this.#files.get(question.value), "file", question.value, sent);
      case "fileContainingSymbol": {
        const name = question.value.replace(/^\./, "");
        return this.#fileAnswer(this.#symbols.get(name), "symbol", question.value, sent);
      }
      case "fileContainingExtension": {
        const { containingType, extensionNumber } = question.value;
        const file = this.#extensions.get(containingType)?.get(extensionNumber);
        return this.#fileAnswer(file, "extension", `${containingType}:${extensionNumber}`, sent);
      }
      case "allExtensionNumbersOfType": {
        const name = question.value;
        if (!this.#messages.has(name)) return unknown("message", name);
        const numbers = [...(this.#extensions.get(name)?.keys() ?? [])].sort((a, b) => a - b);
        return {
          case: "allExtensionNumbersResponse",
          value: { baseTypeName: name, extensionNumber: numbers },
        };
      }
      case undefined:
        return failure(Code.InvalidArgument, "cannot answer reflection request: it asks for nothing");
    }
  }

  #fileAnswer(file: DescFile | undefined, kind: string, name: string, sent: Set<string>): Answer {
    if (file === undefined) return unknown(kind, name);
    const closure = [file];
    for (const one of closure) {
      for (const dependency of one.dependencies) if (!closure.includes(dependency)) closure.push(dependency);
    }
    const fresh = closure.filter((one) => one === file || !sent.has(one.proto.name));
    for (const one of fresh) sent.add(one.proto.name);
    const fileDescriptorProto = fresh.map((one) => this.#bytes.get(one.proto.name)!);
    return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
  }

  #addFile(file: DescFile): void {
    const { proto } = file;
    if (this.#files.has(proto.name)) return;
    this.#files.set(proto.name, file);
    this.#bytes.set(proto.name, toBinary(FileDescriptorProtoSchema, proto));
    for (const dependency of file.dependencies) this.#addFile(dependency);
    const scope = proto.package === "" ? "" : `${proto.package}.`;
    for (const service of proto.service) {
      this.#symbols.set(scope + service.name, file);
      for (const method of service.method) this.#symbols.set(`${scope}${service.name}.${method.name}`, file);
    }
    for (const message of proto.messageType) this.#addMessage(message, scope, file);
    for (const enumeration of proto.enumType) this.#addEnum(enumeration, scope, file);
    this.#addExtensions(proto.extension, scope, file);
  }

  #addMessage(message: DescriptorProto, scope: string, file: DescFile): void {
    const name = scope + message.name;
    this.#symbols.set(name, file);
    this.#messages.add(name);
    for (const member of [...message.field, ...message.oneofDecl]) {
      this.#symbols.set(`${name}.${member.name}`, file);
    }
    for (const nested of message.nestedType) this.#addMessage(nested, `${name}.`, file);
    for (const nested of message.enumType) this.#addEnum(nested, `${name}.`, file);
    this.#addExtensions(message.extension, `${name}.`, file);
  }

  #addEnum(enumeration: EnumDescriptorProto, scope: string, file: DescFile): void {
    this.#symbols.set(scope + enumeration.name, file);
    // The values of an enum are names beside it, not inside it.
    for (const value of enumeration.value) this.#symbols.set(scope + value.name, file);
  }

  #addExtensions(extensions: readonly FieldDescriptorProto[], scope: string, file: DescFile): void {
    for (const extension of extensions) {
      this.#symbols.set(scope + extension.name, file);
      const extendee = extension.extendee.replace(/^\./, "");
      const numbers = this.#extensions.get(extendee) ?? new Map<number, DescFile>();
      this.#extensions.set(extendee, numbers.set(extension.number, file));
    }
  }
}

function unknown(kind: string, name: string): Answer {
  return failure(Code.NotFound, `cannot find ${kind} ${quote(name)}: it is not part of this server`);
}

function failure(code: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode: code, errorMessage } };
}
