import type { ShownSession } from "#core/access/views.ts";
import type { Sender } from "#wire/kit/sender.ts";
import { isHttps, type Settings } from "../settings/settings.ts";

type Headers = Sender["headers"];

const NAME = "cairn_session";

/** The header with the key of the page, in an answer that begins a session and in requests of the page. */
export const PAGE_HEADER = "x-cairn-page";

/**
 * The cookie of a user who has signed in with a browser. It has the secret of a session that ends soon, never the token
 * that was typed in.
 *
 * - No script can read it (HttpOnly), and no page of another site makes the browser send it (SameSite=Strict). A link
 * from another site still works: the page is public, and requests its data itself.
 * - With TLS it has the prefix `__Host-`, so that no neighbour under the same domain can plant one, and is never sent
 * in clear.
 * - Browsers send cookies to all ports of a host. The port is part of the name, so that two servers on one machine do
 * not sign out each other's users. A server on another port still gets the cookie, so it is less than a token: it is
 * only valid together with the key that the page keeps in its own storage, which is bound to the port, and sends as a
 * header. A cookie alone reads the content of artifacts, because a browser adds no header to what an image or a link
 *   leads to. The path is `/`, because the API and the pages share no other.
 */
export class SessionCookie {
  readonly #isSecure: boolean;

  constructor(settings: Pick<Settings, "publicUrl" | "tlsCert">) {
    this.#isSecure = isHttps(settings);
  }

  /** The session credential of a request; undefined when it is not sufficient for the request. */
  sessionOf({ headers, byBrowser }: Pick<Sender, "headers" | "byBrowser">): ShownSession | undefined {
    const secret = this.secretOf(headers);
    if (secret === undefined) return undefined;
    const pageKey = headers[PAGE_HEADER];
    if (typeof pageKey === "string") return { secret, pageKey };
    return byBrowser === true ? { secret, onlyReads: true } : undefined;
  }

  /**
   * The secret in the cookie. None in a request that another page caused: SameSite is not sufficient, because it treats
   * all ports of a machine as one site.
   */
  secretOf(headers: Headers): string | undefined {
    const site = headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin" && site !== "none") return undefined;
    const { cookie } = headers;
    if (typeof cookie !== "string") return undefined;
    const name = this.#nameFor(headers);
    for (const pair of cookie.split(";")) {
      const equals = pair.indexOf("=");
      if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
    }
    return undefined;
  }

  /**
   * True for a visit that would have sent the cookie if there were one. A link on another site is opened without it
   * even if the user is signed in.
   */
  isMissing(headers: Headers): boolean {
    const site = headers["sec-fetch-site"];
    return (site === "none" || site === "same-origin") && this.secretOf(headers) === undefined;
  }

  /** The header that makes a browser keep it until it is closed. */
  set(headers: Headers, secret: string): string {
    return this.#header(headers, secret, "");
  }

  /** The header that makes a browser delete it. */
  clear(headers: Headers): string {
    return this.#header(headers, "", "; Max-Age=0");
  }

  #header(headers: Headers, value: string, more: string): string {
    const secure = this.#isSecure ? "; Secure" : "";
    return `${this.#nameFor(headers)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}${more}`;
  }

  #nameFor(headers: Headers): string {
    const host = headers[":authority"] ?? headers["host"];
    const port = typeof host === "string" ? /:(\d{1,5})$/.exec(host)?.[1] : undefined;
    const name = port === undefined ? NAME : `${NAME}_${port}`;
    return this.#isSecure ? `__Host-${name}` : name;
  }
}
