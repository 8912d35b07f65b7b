import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Ingest } from "#core/ingest/ingest.ts";
import type { Watches } from "#core/watch/watches.ts";
import type { Traffic } from "#wire/kit/traffic.ts";
import type { Listening } from "../listen/listen.ts";
import type { TlsCertificate } from "../listen/tls-certificate.ts";

/** The metrics of /metrics. Values are read on request, so that nothing is counted twice. */
export function buildMetrics(parts: {
  ingest: Ingest;
  watches: Watches;
  traffic: Traffic;
  connections(): ReturnType<Listening["counts"]>;
  /** undefined without TLS. */
  certificate: Pick<TlsCertificate, "expiresInSeconds"> | undefined;
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
  gauge("cairn_ingested_lines", "Log lines stored since the start.", () => parts.ingest.accepted.lines);
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
  const { certificate } = parts;
  if (certificate !== undefined) {
    gauge(
      "cairn_tls_certificate_expires_seconds",
      "Seconds until the TLS certificate expires; below zero once it has.",
      () => certificate.expiresInSeconds,
    );
  }
  const watches = () => parts.watches.counts;
  gauge("cairn_watchers", "Watches open now.", () => watches().watchers);
  gauge("cairn_watch_events", "Events made for watchers since the start.", () => watches().events);
  gauge("cairn_watch_searches", "Searches made for watchers since the start.", () => watches().searches);
  gauge("cairn_watch_points_bytes", "Points kept for watchers now.", () => watches().heldBytes);
  const { quotas, bodies, answers, work } = parts.traffic;
  gauge("cairn_quota_refused", "Requests over a quota since the start.", () => quotas.refused);
  gauge("cairn_bodies_bytes", "Request bodies in memory now.", () => bodies.heldBytes);
  gauge("cairn_answers_bytes", "Answers in memory now.", () => answers.heldBytes);
  gauge("cairn_work_running", "Expensive reads that are running now.", () => work.running);
  gauge("cairn_work_waiting", "Expensive reads that wait for their turn.", () => work.waiting);
  gauge("cairn_backlog_envelopes", "Envelopes waiting for the storage.", () => parts.ingest.backlog.items);
  gauge(
    "cairn_backlog_bytes",
    "Bytes of envelopes waiting for the storage.",
    () => parts.ingest.backlog.bytes,
  );
  return registry;
}
