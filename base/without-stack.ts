/**
 * Makes an error that carries no stack. Looking for one takes longer than all else about a refusal that
 * is made thousands of times a second, and it is never read: the message says why the call was refused.
 */
export function withoutStack<E extends Error>(make: () => E): E {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
