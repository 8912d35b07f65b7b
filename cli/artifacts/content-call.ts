import { Code } from "@connectrpc/connect";
import { z } from "zod";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";

/** Which content a request is about. */
export interface ContentName {
  runId: string;
  name: string;
  step?: bigint | undefined;
}

/** `/artifacts/RUN_ID/NAME` with its step. */
export function contentPath({ runId, name, step }: ContentName): string {
  const path = `/artifacts/${runId}/${name.split("/").map(encodeURIComponent).join("/")}`;
  return step === undefined ? path : `${path}?step=${step}`;
}

/** One request for content. Throws Failure for every answer that is none of `expected`. */
export async function callContent(
  server: Cairn,
  path: string,
  init: RequestInit,
  expected: readonly number[],
): Promise<Response> {
  const response = await server.fetch(path, init);
  if (expected.includes(response.status)) return response;
  throw await failureOf(response);
}

const ErrorBody = z.object({
  message: z.string(),
  reason: z.string().optional(),
  hint: z.string().optional(),
  facts: z.record(z.string(), z.string()).optional(),
});

const CODES: Readonly<Record<number, Code>> = {
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.NotFound,
  408: Code.Unavailable,
  409: Code.FailedPrecondition,
  413: Code.ResourceExhausted,
  429: Code.ResourceExhausted,
  499: Code.Aborted,
  500: Code.Internal,
  502: Code.Unavailable,
  503: Code.Unavailable,
  504: Code.DeadlineExceeded,
};
const ERROR_BYTES_MAX = 64 << 10;

async function failureOf(response: Response): Promise<Failure> {
  const code = CODES[response.status] ?? Code.InvalidArgument;
  const seconds = Number(response.headers.get("retry-after"));
  const more: Record<string, string> = seconds > 0 ? { retry_after_ms: String(seconds * 1000) } : {};
  try {
    const { message, reason, hint, facts } = ErrorBody.parse(JSON.parse(await shortText(response)));
    return new Failure(code, message, {
      ...(reason !== undefined && { reason }),
      ...(hint !== undefined && { hint }),
      facts: { ...more, ...facts },
    });
  } catch {
    // Something between us and the server answered in its own words.
    return new Failure(
      code,
      `cannot use the answer of ${new URL(response.url).host}: status ${response.status}`,
      {
        facts: more,
      },
    );
  }
}

/** The text of an answer, or what of it is enough to be no error of ours. */
async function shortText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > ERROR_BYTES_MAX) break;
  }
  return text;
}
