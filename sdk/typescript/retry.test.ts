import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { Failure } from "./failure.ts";
import { Attempts, Backoff, isFinal, isTransient, retry } from "./retry.ts";

const QUICK = { firstMs: 1, mostMs: 2, refusedMs: 2 };

function failure(code: Code, more: { reason?: string; retryAfterMs?: number } = {}): Failure {
  const { reason = "", retryAfterMs } = more;
  const facts = retryAfterMs === undefined ? {} : { retry_after_ms: String(retryAfterMs) };
  return new Failure(code, "no", { reason, facts });
}

describe("what may be repeated", () => {
  it.each([
    [Code.Unavailable, "transient"],
    [Code.DeadlineExceeded, "transient"],
    [Code.Aborted, "transient"],
    [Code.ResourceExhausted, "final"],
    [Code.InvalidArgument, "final"],
    [Code.OutOfRange, "final"],
    [Code.Unauthenticated, "blocked"],
    [Code.PermissionDenied, "blocked"],
    [Code.NotFound, "blocked"],
    [Code.AlreadyExists, "blocked"],
    [Code.FailedPrecondition, "blocked"],
    [Code.Unimplemented, "blocked"],
    [Code.Internal, "blocked"],
    [Code.DataLoss, "blocked"],
    [Code.Unknown, "blocked"],
    [Code.Canceled, "blocked"],
  ])("C51 code %i is %s", (code, prospect) => {
    expect(isTransient(failure(code))).toBe(prospect === "transient");
    expect(isFinal(failure(code))).toBe(prospect === "final");
  });

  it("C51 a limit that passes says when, and a search that is too slow would be too slow again", () => {
    const passing = failure(Code.ResourceExhausted, { retryAfterMs: 5 });
    expect([isTransient(passing), isFinal(passing)]).toEqual([true, false]);
    expect(isTransient(failure(Code.DeadlineExceeded, { reason: "SEARCH_SLOW" }))).toBe(false);
    expect(isTransient(failure(Code.DeadlineExceeded, { reason: "BODY_STALLED" }))).toBe(true);
  });
});

describe("pauses between attempts", () => {
  const pauses = (random: number, said: Failure, count = 8) => {
    const backoff = new Backoff({ random: () => random });
    return Array.from({ length: count }, () => backoff.next(said));
  };

  it("C51 double up to a bound, and differ between clients", () => {
    expect(pauses(1, failure(Code.Unavailable))).toEqual([200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
    expect(pauses(0, failure(Code.Unavailable))).toEqual([100, 200, 400, 800, 1600, 2500, 2500, 2500]);
  });

  it("C51 are as long as the server asks for, within a bound", () => {
    expect(pauses(0, failure(Code.Unavailable, { retryAfterMs: 1_000 }), 6)).toEqual([
      1000, 1000, 1000, 1000, 1600, 2500,
    ]);
    expect(pauses(1, failure(Code.Unavailable, { retryAfterMs: 1_000 }), 1)).toEqual([1250]);
    expect(pauses(0, failure(Code.Unavailable, { retryAfterMs: 1e12 }), 1)).toEqual([50_000]);
    expect(pauses(0, failure(Code.Unavailable, { retryAfterMs: Number.NaN }), 1)).toEqual([100]);
  });

  it("C51 are long after what only a person can change", () => {
    expect(pauses(1, failure(Code.Unauthenticated), 2)).toEqual([15_000, 15_000]);
  });
});

describe("retry", () => {
  it("C51 calls again until it works", async () => {
    let calls = 0;
    const seen: string[] = [];
    const answer = await retry(
      async () => {
        if (++calls < 4) throw failure(Code.Unavailable);
        return calls;
      },
      { backoff: QUICK, onFailure: ({ message }) => seen.push(message) },
    );
    expect(answer).toBe(4);
    expect(seen).toEqual(["no", "no", "no"]);
  });

  it("C51 throws at once what another attempt would not change", async () => {
    let calls = 0;
    const call = async () => {
      calls++;
      throw failure(Code.NotFound);
    };
    await expect(retry(call, { backoff: QUICK })).rejects.toMatchObject({ code: Code.NotFound });
    expect(calls).toBe(1);
  });

  it("C51 ends when the time for retries is over, and waits no longer", async () => {
    const started = performance.now();
    const away = () => Promise.reject(failure(Code.Unavailable, { retryAfterMs: 60_000 }));
    await expect(retry(away, { patienceMs: 50_000 })).rejects.toMatchObject({ code: Code.Unavailable });
    const short = () => Promise.reject(failure(Code.Unavailable));
    await expect(retry(short, { patienceMs: 20, backoff: QUICK })).rejects.toThrow("no");
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it("C51 ends with the signal, also in a pause", async () => {
    const stop = new AbortController();
    const onFailure = () => stop.abort(new Error("enough"));
    const away = () => Promise.reject(failure(Code.Unavailable, { retryAfterMs: 40_000 }));
    await expect(retry(away, { signal: stop.signal, onFailure })).rejects.toThrow("enough");
    await expect(retry(away, { signal: stop.signal })).rejects.toThrow("enough");
  });

  it("C51 has the full time for retries again after some of it worked", async () => {
    const attempts = new Attempts({ patienceMs: 50, backoff: QUICK });
    const longAgo = performance.now() - 1_000;
    await expect(attempts.wait(failure(Code.Unavailable), longAgo)).rejects.toThrow("no");
    await expect(attempts.wait(failure(Code.Unavailable))).rejects.toThrow("no");
    attempts.progressed();
    await attempts.wait(failure(Code.Unavailable));
  });
});
