import {
  endStreamFlag,
  endStreamToJson,
  codeToHttpStatus,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import type { ConnectError } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import { frameOf } from "./frames.ts";

/** An error as the whole answer to a call. */
export interface Refusal extends UniversalServerResponse {
  content: Uint8Array;
}

const encoder = new TextEncoder();
const PROTOCOL_TYPE =
  /^application\/(?:json|proto|connect\+(?:json|proto)|grpc(?:-web)?(?:\+(?:json|proto))?)$/;

/** Whether a content type, without parameters, is one of a protocol that can express an error. */
export function isProtocolType(contentType: string): boolean {
  return PROTOCOL_TYPE.test(contentType);
}

/**
 * An error in the form of the protocol of `contentType`; undefined for an unknown one. A
 * protocol answers with the content type of the request, except Connect, whose errors are JSON.
 */
export function refusalOf(contentType: string, error: ConnectError): Refusal | undefined {
  if (!isProtocolType(contentType)) return undefined;
  const header = new Headers({ "content-type": contentType });
  if (contentType.startsWith("application/grpc-web")) {
    const trailer = trailerSerialize(setTrailerStatus(new Headers(), error));
    return { status: 200, header, content: frameOf(trailerFlag, trailer) };
  }
  if (contentType.startsWith("application/grpc")) {
    const trailer = setTrailerStatus(new Headers(), error);
    return { status: 200, header, trailer, content: new Uint8Array() };
  }
  if (contentType.startsWith("application/connect+")) {
    const end = JSON.stringify(endStreamToJson(new Headers(), error, undefined));
    return { status: 200, header, content: frameOf(endStreamFlag, encoder.encode(end)) };
  }
  const content = errorToJsonBytes(error, undefined);
  const headers = new Headers(error.metadata);
  headers.set("content-type", "application/json");
  headers.set("content-length", String(content.length));
  return { status: codeToHttpStatus(error.code), header: headers, content };
}
