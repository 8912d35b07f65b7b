import { expect, it } from "vitest";
import { BlobPins } from "#core/artifacts/blob-pins.ts";
import { ALL_BLOBS } from "#core/ports/blob-ledger.ts";
import { digestOf, putUploaded, uploaded } from "../artifact-samples.ts";
import { createRun, NOW_US, refused, useStores, type OpenStores } from "../stores.ts";

const LATER = NOW_US + 1_000;

/** Pins and marks; see core/ports/blob-ledger.ts for what they are for. */
export function blobLedgerContract(open: OpenStores): void {
  const bench = useStores(open);
  const ledger = () => bench.under.blobLedger;
  const [one, two] = [digestOf("one"), digestOf("two")];
  const pin = (digest: string, holder = "p", nowUs = NOW_US) =>
    ledger().pinBlob(digest, holder, nowUs, nowUs + 1_000);
  const mark = (digests: string[], holder = "m", nowUs = NOW_US) =>
    ledger().markBlobs(digests, holder, nowUs, nowUs + 1_000);

  it("F4 F16 a pinned digest is not marked until every pin is removed", async () => {
    expect(await pin(one)).toBe(true);
    expect(await pin(one, "q")).toBe(true);
    expect(await mark([one, two])).toEqual([two]);
    await ledger().unpinBlob(one, "p");
    expect(await mark([one])).toEqual([]);
    await ledger().unpinBlob(one, "q");
    expect(await mark([one])).toEqual([one]);
  });

  it("F4 F16 a marked digest can be neither pinned nor marked until its holder removes the mark", async () => {
    expect(await mark([one])).toEqual([one]);
    expect(await pin(one)).toBe(false);
    expect(await mark([one], "other")).toEqual([]);
    await ledger().unmarkBlobs("other", []);
    expect(await pin(one)).toBe(false);
    await ledger().unmarkBlobs("m", [one]);
    expect(await pin(one)).toBe(true);
  });

  it("F4 F16 pins and marks of a dead holder expire", async () => {
    expect(await pin(one)).toBe(true);
    expect(await mark([one], "m", LATER - 1)).toEqual([]);
    expect(await mark([one], "m", LATER)).toEqual([one]);
    expect(await pin(one, "p", LATER + 999)).toBe(false);
    expect(await pin(one, "p", LATER + 1_000)).toBe(true);
  });

  it("F4 F16 an artifact removes its pin, and cannot be made without one", async () => {
    const run = await createRun(bench.runs);
    const artifact = uploaded("one", { pin: "p" });
    const put = () => bench.under.artifacts.putArtifact(run, artifact, NOW_US);
    await expect(put()).rejects.toEqual(refused("aborted", "PIN_ENDED"));
    await pin(one, "q");
    await expect(put()).rejects.toEqual(refused("aborted", "PIN_ENDED"));
    await pin(one);
    await put();
    await expect(put()).rejects.toEqual(refused("aborted", "PIN_ENDED"));
    await ledger().unpinBlob(one, "q");
    // In use.
    expect(await mark([one])).toEqual([]);
  });

  it("F4 F16 an upload whose pin expired before a mark makes no artifact", async () => {
    const run = await createRun(bench.runs);
    await pin(one);
    expect(await mark([one], "m", LATER)).toEqual([one]);
    await ledger().unmarkBlobs("m", [one]);
    const putting = bench.under.artifacts.putArtifact(run, uploaded("one", { pin: "p" }), LATER);
    await expect(putting).rejects.toEqual(refused("aborted", "PIN_ENDED"));
  });

  it("F4 F16 an artifact that cannot be made does not change the pin", async () => {
    await pin(one);
    const putting = bench.under.artifacts.putArtifact("0".repeat(32), uploaded("one", { pin: "p" }), NOW_US);
    await expect(putting).rejects.toEqual(refused("not-found"));
    expect(await mark([one])).toEqual([]);
  });

  it("F15 F16 a pin of everything prevents new marks, and waits for existing ones", async () => {
    await putUploaded(bench.under, await createRun(bench.runs), uploaded("used"), NOW_US);
    expect(await mark([one])).toEqual([one]);
    expect(await pin(ALL_BLOBS)).toBe(false);
    expect(await mark([two])).toEqual([]);
    await ledger().unmarkBlobs("m", [one]);
    expect(await pin(ALL_BLOBS)).toBe(true);
    expect(await mark([one, two])).toEqual([]);
    expect(await pin(one)).toBe(true);
    await ledger().unpinBlob(one, "p");
    await ledger().unpinBlob(ALL_BLOBS, "p");
    expect(await mark([one, two])).toEqual([one, two]);
  });

  it("F15 F16 a backup that waits too long for marks fails, and new marks are possible again", async () => {
    expect(await mark([one])).toEqual([one]);
    const pins = new BlobPins({ ledger: ledger(), clock: { nowUs: () => NOW_US }, waitMsMax: 10 });
    const keeping = pins.keepAll(() => Promise.resolve("kept"));
    await expect(keeping).rejects.toEqual(refused("unavailable", "BLOB_BUSY"));
    await expect(keeping).rejects.toThrow("cannot make or restore a backup: ");
    expect(await mark([two], "other")).toEqual([two]);
    await ledger().unmarkBlobs("m", [one]);
    await ledger().unmarkBlobs("other", [two]);
    expect(await pins.keepAll(() => Promise.resolve("kept"))).toBe("kept");
    expect(await mark([one])).toEqual([one]);
  });
}
