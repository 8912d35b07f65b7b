import { CairnError, quote } from "#lang/errors.ts";

/** The place in the order of artifacts after which the next page begins. */
export interface ArtifactPlaceInOrder {
  name: string;
  step: number | undefined;
}

export function pageTokenOf({ name, step }: ArtifactPlaceInOrder): string {
  return Buffer.from(JSON.stringify([name, step ?? null])).toString("base64url");
}

/** Throws `invalid` for an unknown token. */
export function parsePageToken(token: string): ArtifactPlaceInOrder {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    throw refusal(token);
  }
  if (!Array.isArray(parsed) || parsed.length !== 2) throw refusal(token);
  const [name, step] = parsed as unknown[];
  if (typeof name !== "string" || !name.isWellFormed()) throw refusal(token);
  if (step === null) return { name, step: undefined };
  if (typeof step !== "number" || !Number.isInteger(step)) throw refusal(token);
  return { name, step };
}

function refusal(token: string): CairnError {
  return new CairnError("invalid", `cannot use page token ${quote(token)}`, {
    hint: "send the next_page_token of the page before, with the same request",
  });
}
