/** A process that writes at a fixed rate, whatever the answers are, and counts them by their gRPC status. */
import { connect, type IncomingHttpHeaders } from "node:http2";
import { frame, WRITE_PATH } from "#wire/connect/testing/raw-call.ts";

export interface HammerStart {
  url: string;
  token: string;
  /** An envelope without a number, in hex. */
  message: string;
  perSecond: number;
}

/** How many answers of each status; "lost" for those that were cut off. */
export type HammerCounts = Record<string, number>;

const TICK_MS = 5;
const CONNECTIONS = 8;

process.on("message", ({ url, token, message, perSecond }: HammerStart) => {
  const counts: HammerCounts = {};
  const body = frame(Buffer.from(message, "hex"));
  const sessions = Array.from({ length: CONNECTIONS }, () => connect(url).on("error", () => {}));
  let sent = 0;
  const startMs = performance.now();
  const send = (): void => {
    const stream = sessions[sent++ % CONNECTIONS]!.request({
      ":method": "POST",
      ":path": WRITE_PATH,
      "content-type": "application/grpc+proto",
      ...(token !== "" && { authorization: `Bearer ${token}` }),
      te: "trailers",
    });
    let status = "lost";
    const note = (headers: IncomingHttpHeaders): void =>
      void (status = String(headers["grpc-status"] ?? status));
    stream
      .on("response", note)
      .on("trailers", note)
      .on("error", () => {});
    stream.on("close", () => (counts[status] = (counts[status] ?? 0) + 1));
    stream.resume();
    stream.end(body);
  };
  setInterval(() => {
    const due = Math.floor(((performance.now() - startMs) * perSecond) / 1000);
    for (let missing = due - sent; missing > 0; missing--) send();
    process.send?.(counts);
  }, TICK_MS);
});

process.on("disconnect", () => process.exit());
