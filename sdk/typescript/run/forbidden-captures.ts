import type { ForbiddenCapture } from "#proto/cairn/v1/namespace_pb.ts";
import type { Notices } from "./notices.ts";

/** What the run would capture by itself. */
export interface WantedCaptures {
  console: boolean;
  code: boolean;
}

/**
 * Capture that the server has forbidden so far. The user is notified of each once, if the run would have captured it or
 * has sent it. It is never taken back while the process lives.
 */
export class ForbiddenCaptures {
  readonly #wanted: WantedCaptures;
  readonly #notices: Notices;
  console = false;
  /** The namespace that forbids to capture code. */
  codeIn: string | undefined;
  /** Called once when the console is forbidden. */
  onConsole: () => void = () => {};

  constructor(wanted: WantedCaptures, notices: Notices) {
    this.#wanted = wanted;
    this.#notices = notices;
  }

  get code(): boolean {
    return this.codeIn !== undefined;
  }

  /** Called with an answer of the server: when a run is begun or, with `wasSent`, because it left something out. */
  learn(forbidden: Pick<ForbiddenCapture, "console" | "code">, wasSent = false): void {
    if (forbidden.console !== "" && !this.console) {
      this.console = true;
      if (wasSent || this.#wanted.console) this.#notify("console", forbidden.console);
      this.onConsole();
    }
    if (forbidden.code !== "" && !this.code) {
      this.codeIn = forbidden.code;
      if (wasSent || this.#wanted.code) this.#notify("code", forbidden.code);
    }
  }

  #notify(what: "console" | "code", namespace: string): void {
    const lost = what === "console" ? "what is printed is not recorded" : "neither patch nor archive is kept";
    this.#notices.once(
      `forbidden ${what}`,
      `${what} capture is off in namespace "${namespace}": an administrator forbade it; ${lost}`,
    );
  }
}
