import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { Failure } from "./failure.ts";
import { isTransient } from "./retry.ts";

function fetchFailed(cause?: unknown): ConnectError {
  return ConnectError.from(new TypeError("fetch failed", { cause }));
}

describe("Failure.from", () => {
  it.each([
    [
      "a refused connection",
      Object.assign(new Error("connect ECONNREFUSED ::1:9"), { code: "ECONNREFUSED" }),
    ],
    ["a port that fetch does not use", new Error("bad port")],
    [
      "a name with two addresses",
      Object.assign(new AggregateError([new Error("connect ECONNREFUSED ::1:9"), new Error("no route")]), {
        code: "ECONNREFUSED",
      }),
    ],
  ])("T2 shows the error of the network for %s", (_name, cause) => {
    const failure = Failure.from(fetchFailed(cause), "http://h:9");
    expect(failure.code).toBe(Code.Unavailable);
    expect(failure.reason).toBe("UNREACHABLE");
    const words = cause instanceof AggregateError ? "connect ECONNREFUSED ::1:9, no route" : cause.message;
    expect(failure.message).toBe(`cannot reach http://h:9: ${words}`);
  });

  it("T2 shows only what is known in a browser", () => {
    const failure = Failure.from(ConnectError.from(new TypeError("Failed to fetch")));
    expect(failure.message).toBe("cannot reach the server: Failed to fetch");
  });

  it("T2 keeps an error of our own", () => {
    const failure = Failure.from(new TypeError("x is undefined"));
    expect(failure.reason).toBe("");
    expect(failure.code).not.toBe(Code.Unavailable);
  });

  it.each([
    ["a status of a proxy", new ConnectError("HTTP 500", Code.Unknown)],
    ["a stream without its end", ConnectError.from("missing EndStreamResponse")],
    ["a message without its end", new ConnectError("premature end of stream", Code.DataLoss)],
    ["a body that was interrupted in a browser", ConnectError.from(new TypeError("network error"))],
  ])("C51 %s is not an answer of the server, and may be repeated", (_name, error) => {
    expect(isTransient(Failure.from(error))).toBe(true);
  });

  it("C51 takes the time to wait from the headers of a proxy", () => {
    const error = new ConnectError("HTTP 503", Code.Unavailable, { "retry-after": "7" });
    expect(Failure.from(error).facts).toEqual({ retry_after_ms: "7000" });
  });

  it("C51 no answer in time may be repeated", () => {
    const failure = Failure.from(new DOMException("The operation timed out", "TimeoutError"), "http://h:9");
    expect(failure.message).toBe("no answer from http://h:9 in time");
    expect([failure.code, isTransient(failure)]).toEqual([Code.DeadlineExceeded, true]);
  });
});
