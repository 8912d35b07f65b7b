import type { Cairn } from "#sdk/client.ts";
import { httpFailure } from "#sdk/http-failure.ts";

/** How long a transfer may be idle: longer than a restart takes, and than most quotas make it wait. */
export const TRANSFER_PATIENCE_MS = 60_000;

/** One request for content. Throws Failure for every answer that is not one of `expected`. */
export async function callContent(
  server: Cairn,
  path: string,
  init: RequestInit,
  expected: readonly number[],
): Promise<Response> {
  const response = await server.fetch(path, init);
  if (expected.includes(response.status)) return response;
  const text = await shortText(response);
  throw httpFailure(`cannot use the answer of ${new URL(response.url).host}`, response, text);
}

const ERROR_BYTES_MAX = 64 << 10;

/** The text of an answer, cut to a size that is enough for an error message. */
async function shortText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > ERROR_BYTES_MAX) break;
  }
  return text;
}
