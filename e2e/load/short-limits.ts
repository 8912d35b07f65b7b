// Loaded into a server with --import: it closes on slow clients after seconds, so that a test need not wait for minutes.
// A healthy client on a busy machine is never that slow.
import { listenLimits } from "#server/listen/limits.ts";

Object.assign(listenLimits, {
  sniffMs: 5_000,
  headersMs: 5_000,
  slowBodyMs: 6_000,
  firstStreamMs: 6_000,
  exchangeIdleMs: 8_000,
} satisfies Partial<typeof listenLimits>);
