import { expect, test } from "vitest";
import { CairnError, type ErrorCode } from "#lang/errors.ts";
import { errorBody, httpStatusOf, retryAfterOf } from "#wire/kit/http-error.ts";

test.each([
  ["invalid", 400],
  ["not-found", 404],
  ["exists", 409],
  ["precondition", 409],
  ["unauthenticated", 401],
  ["forbidden", 403],
  ["unavailable", 503],
  ["deadline", 504],
  ["aborted", 499],
  ["corrupt", 500],
  ["internal", 500],
] as [ErrorCode, number][])("%s is %i", (code, status) => {
  expect(httpStatusOf(new CairnError(code, "x"))).toBe(status);
});

test("exhausted is 429 where waiting helps and 413 where it does not", () => {
  expect(httpStatusOf(new CairnError("exhausted", "x", { retryAfterMs: 10 }))).toBe(429);
  expect(httpStatusOf(new CairnError("exhausted", "x"))).toBe(413);
});

test("a reason of HTTP's own has its own status", () => {
  expect(httpStatusOf(new CairnError("invalid", "x", { reason: "METHOD_NOT_ALLOWED" }))).toBe(405);
  expect(httpStatusOf(new CairnError("invalid", "x", { reason: "SEQ_GAP" }))).toBe(400);
});

test("the body has the fields of the error and nothing else", () => {
  expect(errorBody(new CairnError("not-found", 'cannot find run "x": no such run'))).toEqual({
    code: "not-found",
    message: 'cannot find run "x": no such run',
  });
  const facts = { expected: "17" };
  expect(errorBody(new CairnError("precondition", "m", { reason: "SEQ_GAP", hint: "h", facts }))).toEqual({
    code: "precondition",
    message: "m",
    reason: "SEQ_GAP",
    hint: "h",
    facts,
  });
});

test("the message of an internal error is not sent", () => {
  const error = CairnError.from(new Error("SELECT secret FROM tokens"));
  expect(errorBody(error, "42").message).toBe('cannot finish the request: internal error "42"');
});

test("Retry-After is whole seconds, at least one", () => {
  const after = (retryAfterMs: number): string | undefined =>
    retryAfterOf(new CairnError("exhausted", "x", { retryAfterMs }));
  expect([after(1), after(1000), after(1001)]).toEqual(["1", "1", "2"]);
  expect(retryAfterOf(new CairnError("exhausted", "x"))).toBeUndefined();
});
