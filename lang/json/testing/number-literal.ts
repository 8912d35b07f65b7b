import fc from "fast-check";

const digits = fc.stringMatching(/^[0-9]{1,25}$/);

/** Every way to write a number in JSON as Python has it. */
export const numberLiteral: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.constantFrom("NaN", "Infinity", "-Infinity", "0", "-0", "-0.0", "0e5", "9007199254740993"),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.constantFrom("", "-"),
        fc.stringMatching(/^(?:0|[1-9][0-9]{0,24})$/),
        fc.option(digits, { nil: undefined }),
        fc.option(
          fc.tuple(
            fc.constantFrom("e", "E"),
            fc.constantFrom("", "+", "-"),
            fc.stringMatching(/^[0-9]{1,3}$/),
          ),
          {
            nil: undefined,
          },
        ),
      )
      .map(
        ([sign, whole, fraction, exponent]) =>
          sign + whole + (fraction === undefined ? "" : `.${fraction}`) + (exponent?.join("") ?? ""),
      ),
  },
);
