import type { CairnError } from "#lang/errors.ts";
import type { HealthSource } from "#wire/connect/services/health.ts";
import { SERVICES } from "#wire/connect/services/services.ts";

/** Whether the server takes requests, for /readyz and for gRPC health. */
export class Readiness implements HealthSource {
  readonly #listeners = new Set<() => void>();
  readonly #services = new Set<string>(["", ...SERVICES.map(({ typeName }) => typeName)]);
  #ready = false;
  #failure: CairnError | undefined;

  get isReady(): boolean {
    return this.#ready && this.#failure === undefined;
  }

  /** Why the server is permanently not ready. */
  get failure(): CairnError | undefined {
    return this.#failure;
  }

  /** It accepts requests, but cannot do all of its work until it is restarted. */
  fail(failure: CairnError): void {
    this.#failure ??= failure;
    for (const listener of this.#listeners) listener();
  }

  set(ready: boolean): void {
    this.#ready = ready;
    for (const listener of this.#listeners) listener();
  }

  serving(service: string): boolean | undefined {
    return this.#services.has(service) ? this.isReady : undefined;
  }

  subscribe(onChange: () => void): () => void {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  }
}
