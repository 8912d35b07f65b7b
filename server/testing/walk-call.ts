import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { fromJson, toBinary, type DescMethod, type DescService, type JsonObject } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { Health } from "#proto/grpc/health/v1/health_pb.ts";
import { ServerReflection, ServerReflectionAlpha } from "#wire/connect/services/reflection.ts";
import { SERVICES } from "#wire/connect/services/services.ts";
import { frame } from "#wire/connect/testing/raw-call.ts";

/** An answer, as text to be searched. */
export interface WalkAnswer {
  /** "OK", or the name of the code in gRPC, such as "PermissionDenied". */
  code: string;
  /** Headers, trailers and body, also decoded. */
  text: string;
  /** Of a method that answered in JSON. */
  json: JsonObject;
}

export type WalkProtocol = "grpc" | "json";

export interface MethodCall {
  protocol: WalkProtocol;
  /** As "package.Service/Method". */
  name: string;
  message: JsonObject;
  headers: Record<string, string>;
  /** Disconnect after the first message, because the stream does not end. */
  endless?: boolean;
}

export interface RouteCall {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

const METHODS: ReadonlyMap<string, DescMethod> = new Map(
  [...SERVICES, Health, ServerReflection, ServerReflectionAlpha].flatMap((service: DescService) =>
    service.methods.map((method) => [`${service.typeName}/${method.name}`, method] as const),
  ),
);

interface Raw {
  head: IncomingHttpHeaders;
  trailers: IncomingHttpHeaders;
  body: Buffer;
}

/** Calls anything the server has, with any header, over HTTP/2. */
export class WalkClient {
  readonly #session: ClientHttp2Session;

  constructor(url: string) {
    this.#session = connect(url);
  }

  async call({ protocol, name, message, headers, endless = false }: MethodCall): Promise<WalkAnswer> {
    const method = METHODS.get(name);
    if (method === undefined) throw new Error(`unknown method ${name}`);
    const streams = method.methodKind !== "unary";
    const grpc = protocol === "grpc";
    const bytes = grpc
      ? toBinary(method.input, fromJson(method.input, message))
      : Buffer.from(JSON.stringify(message));
    const type = grpc ? "application/grpc" : streams ? "application/connect+json" : "application/json";
    const raw = await this.#send(
      {
        ":method": "POST",
        ":path": `/${name}`,
        "content-type": type,
        ...(grpc && { te: "trailers" }),
        ...headers,
      },
      grpc || streams ? frame(bytes) : bytes,
      endless,
    );
    const code = grpc ? grpcCode(raw, endless) : streams ? streamCode(raw, endless) : unaryCode(raw);
    const json = !grpc && !streams ? (JSON.parse(alike(raw.body.toString())) as JsonObject) : {};
    return { code, text: textOf(raw), json };
  }

  /** Reads a stream in JSON: each step waits for a text and then acts. Returns everything received. */
  async listen(
    call: Omit<MethodCall, "protocol" | "endless">,
    steps: readonly { until: (text: string) => boolean; act: () => Promise<void> }[],
  ): Promise<string> {
    const stream = this.#session.request({
      ":method": "POST",
      ":path": `/${call.name}`,
      "content-type": "application/connect+json",
      ...call.headers,
    });
    stream.on("error", () => {});
    let text = "";
    stream.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    stream.end(frame(Buffer.from(JSON.stringify(call.message))));
    for (const { until, act } of steps) {
      while (!until(text)) {
        if (stream.closed) throw new Error(`the stream ended after ${text}`);
        await Promise.race([once(stream, "data"), once(stream, "close")]);
      }
      await act();
    }
    stream.close();
    return text;
  }

  async route({ method, path, headers, body }: RouteCall): Promise<WalkAnswer> {
    const raw = await this.#send({ ":method": method, ":path": path, ...headers }, body, false);
    return { code: routeCode(raw), text: textOf(raw), json: {} };
  }

  close(): void {
    this.#session.destroy();
  }

  async #send(
    headers: Record<string, string>,
    body: string | Uint8Array | undefined,
    endless: boolean,
  ): Promise<Raw> {
    const stream = this.#session.request(headers);
    stream.on("error", () => {});
    const raw: Raw = { head: {}, trailers: {}, body: Buffer.alloc(0) };
    stream.on("response", (received) => (raw.head = received));
    stream.on("trailers", (received) => (raw.trailers = received));
    stream.on("data", (chunk: Buffer) => {
      raw.body = Buffer.concat([raw.body, chunk]);
      if (endless && raw.body.length > 5) stream.close();
    });
    stream.end(body);
    await once(stream, "close");
    return raw;
  }
}

function grpcCode({ head, trailers, body }: Raw, endless: boolean): string {
  const status = trailers["grpc-status"] ?? head["grpc-status"];
  if (status === undefined) return endless && body.length > 5 ? "OK" : routeCode({ head, trailers, body });
  return status === "0" ? "OK" : Code[Number(status)]!;
}

function unaryCode({ head, body }: Raw): string {
  if (Number(head[":status"]) === 200) return "OK";
  return pascal((JSON.parse(body.toString()) as { code: string }).code);
}

/** The status in the last frame. */
function streamCode(raw: Raw, endless: boolean): string {
  const { head, body } = raw;
  if (Number(head[":status"]) !== 200) return unaryCode(raw);
  for (let at = 0; at + 5 <= body.length;) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    if ((body[at]! & 2) !== 0) {
      const { error } = JSON.parse(body.toString("utf8", at + 5, end)) as { error?: { code: string } };
      return error === undefined ? "OK" : pascal(error.code);
    }
    at = end;
  }
  return endless && body.length > 5 ? "OK" : "Cut";
}

function routeCode({ head, body }: Raw): string {
  const status = Number(head[":status"]);
  if (status < 400) return "OK";
  const { code } = JSON.parse(body.toString()) as { code: string };
  return code === "forbidden" ? "PermissionDenied" : pascal(code);
}

function pascal(code: string): string {
  return code.replace(/(?:^|[_-])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Positions of reads and watches are sealed, each as another text: here they are all the same. */
function alike(text: string): string {
  return text.replaceAll(/[0-9a-f]{12}\.[\w-]{59}/g, "a position");
}

/** Also decodes base64 and percent-encoding, twice: details of errors, tokens of pages. */
function textOf({ head, trailers, body }: Raw): string {
  const headers = [head, trailers].flatMap((some) => Object.entries(some).map((pair) => pair.join(": ")));
  let text = alike([...headers, body.toString("latin1")].join("\n"));
  for (let round = 0; round < 2; round++) {
    const packed = text.match(/[\w+/-]{8,}/g) ?? [];
    const unpacked = packed.map((one) => Buffer.from(one, "base64").toString("latin1"));
    const plain = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    );
    text = [text, plain, ...unpacked].join("\n");
  }
  return text;
}
