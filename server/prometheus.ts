import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Ingest } from "#core/ingest/ingest.ts";
import type { Listening } from "./listen.ts";

/** What /metrics says. Values are read when asked for, so that nothing is counted twice. */
export function buildMetrics(parts: {
  ingest: Ingest;
  connections(): ReturnType<Listening["counts"]>;
}): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string, read: () => number) => {
    const collect = function (this: Gauge): void {
      this.set(read());
    };
    registry.registerMetric(new Gauge({ name, help, registers: [], collect }));
  };
  gauge(
    "cairn_ingested_envelopes",
    "Envelopes stored since the start.",
    () => parts.ingest.accepted.envelopes,
  );
  gauge("cairn_ingested_points", "Points stored since the start.", () => parts.ingest.accepted.points);
  gauge("cairn_connections_open", "Connections open now.", () => parts.connections().open);
  gauge(
    "cairn_connections_accepted",
    "Connections accepted since the start.",
    () => parts.connections().accepted,
  );
  gauge(
    "cairn_connections_refused",
    "Connections refused since the start.",
    () => parts.connections().refused,
  );
  return registry;
}
