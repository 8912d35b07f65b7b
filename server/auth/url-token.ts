import { CairnError } from "#lang/errors.ts";

/** The form of our tokens, also with "_" and "-" percent-encoded. */
const TOKEN = /cairn(?:_|%5f)(?:[\w-]|%5f|%2d){43}/i;

/**
 * A token in a URL ends up in the logs of proxies and in the history of browsers, so it must be considered leaked: it
 * is refused, anywhere in the URL, and not repeated in the refusal.
 */
export function checkUrl(url: string): CairnError | undefined {
  if (url.length < 43 || !TOKEN.test(url)) return undefined;
  return new CairnError("invalid", "cannot accept a token in a URL", {
    reason: "TOKEN_IN_URL",
    hint: "Send it in the header `authorization: Bearer TOKEN`, and revoke this one: others may have read it.",
  });
}
