import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SentTexts } from "./sent-texts.ts";

describe("texts on their way to the address and back", () => {
  it("Z97 a sent text is recognized when it comes back, also when some are skipped", () => {
    const typed = fc.uniqueArray(fc.tuple(fc.string(), fc.boolean()), { selector: ([text]) => text });
    fc.assert(
      fc.property(typed, (texts) => {
        const sent = new SentTexts();
        for (const [text] of texts) sent.send(text);
        for (const [text, comes] of texts) if (comes) expect(sent.takeBack(text)).toBe(true);
      }),
    );
  });

  it("Z97 other texts are new, and so are texts that were sent before them", () => {
    const sent = new SentTexts();
    sent.send("a");
    expect(sent.takeBack("b")).toBe(false);
    expect(sent.takeBack("a")).toBe(false);
  });

  it("Z97 a text is new when it comes back again, and all are new after leaving the field", () => {
    const sent = new SentTexts();
    sent.send("a");
    sent.send("ab");
    expect(sent.takeBack("a")).toBe(true);
    expect(sent.takeBack("ab")).toBe(true);
    expect(sent.takeBack("a")).toBe(false);
    expect(sent.latest("ab")).toBe("ab");
    sent.send("abc");
    expect(sent.latest("ab")).toBe("abc");
    sent.forget();
    expect(sent.takeBack("abc")).toBe(false);
  });
});
