import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { clientLimits } from "#sdk/run/client-limits.ts";

it("C12 what the client collects fits an envelope", () => {
  // One call may bring a series more than the others to their limit before they are written.
  expect(clientLimits.hotSeriesMax + clientLimits.collectPointsMax).toBeLessThan(limits.envelopePointsMax);
  expect(clientLimits.collectBytesMax + limits.artifactInlineBytesMax).toBeLessThan(
    limits.envelopeContentBytesMax,
  );
});
