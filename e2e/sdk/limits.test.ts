import { describe, expect, it } from "vitest";
import { limits as serverLimits } from "#lang/limits.ts";
import { clientLimits } from "#sdk/run/client-limits.ts";
import { limits } from "#lang/limits.ts";

describe("limits of the client", () => {
  it.each(Object.entries(limits))("C12 %s is what the server says", (name, value) => {
    expect((serverLimits as Readonly<Record<string, number>>)[name]).toBe(value);
  });

  it("C12 what the client collects fits an envelope", () => {
    // One call may bring a series more than the others to their limit before they are written.
    expect(clientLimits.hotSeriesMax + clientLimits.collectPointsMax).toBeLessThan(
      serverLimits.envelopePointsMax,
    );
    expect(clientLimits.collectBytesMax + limits.artifactInlineBytesMax).toBeLessThan(
      limits.envelopeContentBytesMax,
    );
  });
});
