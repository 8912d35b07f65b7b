import type { HealthSource } from "#wire/connect/health.ts";
import { SERVICES } from "#wire/connect/services.ts";

/** Whether the server takes requests, for /readyz and for gRPC health. */
export class Readiness implements HealthSource {
  readonly #listeners = new Set<() => void>();
  readonly #services = new Set<string>(["", ...SERVICES.map(({ typeName }) => typeName)]);
  #ready = false;

  get isReady(): boolean {
    return this.#ready;
  }

  set(ready: boolean): void {
    this.#ready = ready;
    for (const listener of this.#listeners) listener();
  }

  serving(service: string): boolean | undefined {
    return this.#services.has(service) ? this.#ready : undefined;
  }

  subscribe(onChange: () => void): () => void {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  }
}
