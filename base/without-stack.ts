/**
 * Makes an error that carries no stack. Looking for one takes longer than all else about a refusal that
 * is made thousands of times a second, and nobody reads it: who was refused is told why in words.
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
