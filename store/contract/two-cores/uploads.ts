import fc from "fast-check";
import { expect, it } from "vitest";
import { UploadTable } from "#core/artifacts/upload-table.ts";
import type { UploadState } from "#core/artifacts/uploads.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { bytesOf, digestOf, listed, streamOf } from "../blob-under-test.ts";
import { createRun, refused, type OpenStores } from "../stores.ts";
import { byId, head, pauseBy, pauses, useTwoCores, WRITER, type OpenSharedBlobs } from "./bench.ts";

const HOUR_US = 3_600_000_000;
const SECOND_US = 1_000_000;
const ATTEMPTS_MAX = 2_000;

export function twoCoresUploadsContract(
  open: OpenStores,
  openBlobs: OpenSharedBlobs,
  schedules: number,
): void {
  const two = useTwoCores(open, openBlobs);
  const send = (
    core: number,
    run: string,
    whole: string,
    part: [start: number, text: string] | undefined,
    stream: AsyncIterable<Uint8Array> = streamOf(part?.[1] ?? ""),
    name = "f",
  ): Promise<UploadState> =>
    two.cores[core]!.uploads.putPiece(WRITER, byId(run), head(name), {
      digest: digestOf(whole),
      totalBytes: whole.length,
      piece: part && { start: part[0], sizeBytes: part[1].length, content: stream },
    });
  const idOf = (run: string, whole: string) =>
    UploadTable.idOf({
      principal: WRITER.principal,
      runId: run,
      name: "f",
      step: undefined,
      digest: digestOf(whole),
      totalBytes: whole.length,
    });
  const unfinished = async () => {
    let count = 0;
    for await (const upload of two.blobs.listUploads()) count += upload.id === "" ? 0 : 1;
    return count;
  };
  const read = async (run: string) => {
    const { sha256 } = (await two.stores.under.artifacts.findArtifact(run, "f", undefined))!;
    return (await bytesOf((await two.blobs.get(sha256!)).body)).toString();
  };

  /** A client that sends pieces through both cores and resumes at their offset; `numbers` decides how much and which core. */
  const upload = async (run: string, whole: string, numbers: () => number) => {
    let offset = 0;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const text = whole.slice(offset, offset + 1 + numbers());
      try {
        const part: [number, string] | undefined = text === "" ? undefined : [offset, text];
        const state = await send(numbers() % 2, run, whole, part);
        if (state.done) return;
        ({ offset } = state);
      } catch (thrown) {
        const { reason, facts } = CairnError.from(thrown);
        if (reason === "UPLOAD_OFFSET") offset = Number(facts["offset"]);
        else if (reason !== "SUPERSEDED") throw thrown;
      }
    }
    throw new Error("the upload does not finish");
  };

  it("F6 F16 an upload in turns through both arrives complete, with concurrent requests and in any order of steps", async () => {
    const property = fc.asyncProperty(
      fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      pauses,
      async (whole, clients, numbers) => {
        two.pause = pauseBy(two, numbers);
        const run = await createRun(two.stores.runs);
        const next = () => numbers.next().value;
        await Promise.all(Array.from({ length: clients }, () => upload(run, whole, next)));
        expect(await read(run)).toBe(whole);
        expect(await unfinished()).toBe(0);
        expect(await two.stores.under.uploadLedger.findUploads([idOf(run, whole)])).toEqual([]);
      },
    );
    await fc.assert(property, { numRuns: schedules });
  });

  it("F6 F16 a newer request at another core takes over from one that hangs", async () => {
    const run = await createRun(two.stores.runs);
    const begun = Promise.withResolvers<void>();
    async function* hanging() {
      yield Buffer.from("01234");
      begun.resolve();
      await new Promise(() => undefined);
    }
    const older = send(0, run, "0123456789", [0, "0123456789"], hanging());
    const refusal = expect(older).rejects.toEqual(refused("aborted", "SUPERSEDED"));
    await begun.promise;
    expect(await send(1, run, "0123456789", undefined)).toEqual({ done: false, offset: 5 });
    await refusal;
    expect(await send(1, run, "0123456789", [5, "56789"])).toMatchObject({ done: true });
    expect(await read(run)).toBe("0123456789");
  });

  it("F6 F16 the newest of the requests that wait for a turn gets it, and the older ones are superseded", async () => {
    const run = await createRun(two.stores.runs);
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    async function* slow() {
      begun.resolve();
      await gate.promise;
      yield Buffer.from("0123456789");
    }
    const working = send(0, run, "0123456789", [0, "0123456789"], slow());
    await begun.promise;
    const older = send(1, run, "0123456789", undefined);
    const { uploadLedger } = two.stores.under;
    const id = idOf(run, "0123456789");
    // The older one waits already when the newer one comes.
    const turn = { id, nowUs: two.clock.us, untilUs: two.clock.us + SECOND_US, begins: false };
    for (let i = 0; i < 5; i++) await uploadLedger.findUploads([id]);
    const newer = { ...turn, turn: "newer", core: "third" };
    expect(await uploadLedger.takeUpload({ ...newer, again: false })).toEqual({ state: "wait" });
    await expect(older).rejects.toEqual(refused("aborted", "SUPERSEDED"));
    gate.resolve();
    // Finished, unless it noticed first that the newer one waits.
    await working.catch((thrown: unknown) => expect(thrown).toEqual(refused("aborted", "SUPERSEDED")));
  });

  it("F2 F16 from the moment a second core works on an upload it is known to be shared, by both", async () => {
    const run = await createRun(two.stores.runs);
    const { uploadLedger } = two.stores.under;
    const [id, nowUs] = [idOf(run, "shared"), two.clock.us];
    const work = async (core: string) => {
      const turn = { id, turn: `turn of ${core}`, core, nowUs, untilUs: nowUs + SECOND_US };
      const taken = await uploadLedger.takeUpload({ ...turn, again: false, begins: true });
      await uploadLedger.endTurn(id, turn.turn, nowUs, { touchedUs: nowUs });
      return taken;
    };
    const answers = [];
    for (const core of ["here", "here", "there", "here", "there"]) answers.push(await work(core));
    expect(answers).toEqual([false, false, true, true, true].map((shared) => ({ state: "taken", shared })));
  });

  it("F6 F16 a core that died is replaced when its turn has ended, and its bytes are kept", async () => {
    const run = await createRun(two.stores.runs);
    const id = idOf(run, "0123456789");
    const { nowUs } = two.clock;
    const asked = { id, turn: "dead", core: "dead", again: false, begins: true };
    await two.stores.under.uploadLedger.takeUpload({
      ...asked,
      nowUs: nowUs(),
      untilUs: nowUs() + 15 * SECOND_US,
    });
    await two.blobs.appendUpload(id, 0, streamOf("012"));
    let heir: UploadState | undefined;
    const taking = send(1, run, "0123456789", undefined).then((state) => (heir = state));
    // It has retried several times by then.
    for (let i = 0; i < 50; i++) await two.stores.under.blobLedger.listUnusedBlobs(1);
    expect(heir).toBeUndefined();
    two.clock.us += 16 * SECOND_US;
    await taking;
    expect(heir).toEqual({ done: false, offset: 3 });
    expect(await send(0, run, "0123456789", [3, "3456789"])).toMatchObject({ done: true });
    expect(await read(run)).toBe("0123456789");
  });

  it("F6 F16 a core whose turn has ended stops and does not disturb the core that has it now", async () => {
    const run = await createRun(two.stores.runs);
    const [begun, begunThere, gate] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ];
    async function* hanging() {
      yield Buffer.from("01234");
      begun.resolve();
      await new Promise(() => undefined);
    }
    async function* slow() {
      begunThere.resolve();
      await gate.promise;
      yield Buffer.from("56789");
    }
    const older = send(0, run, "0123456789", [0, "0123456789"], hanging());
    const refusal = expect(older).rejects.toEqual(refused("aborted", "SUPERSEDED"));
    await begun.promise;
    // Longer than a turn lasts, before it is renewed.
    two.clock.us += 16 * SECOND_US;
    const newer = send(1, run, "0123456789", [5, "56789"], slow());
    await begunThere.promise;
    await refusal;
    const { uploadLedger } = two.stores.under;
    const id = idOf(run, "0123456789");
    const asked = { id, turn: "third", core: "third", again: false, begins: false };
    const { us: nowUs } = two.clock;
    expect(await uploadLedger.takeUpload({ ...asked, nowUs, untilUs: nowUs + SECOND_US })).toEqual({
      state: "wait",
    });
    gate.resolve();
    // Finished, unless it first noticed that the third one waits.
    await newer.catch((thrown: unknown) => expect(thrown).toEqual(refused("aborted", "SUPERSEDED")));
  });

  it("D12 F6 an upload from a version without rows can be continued, and is dropped when it is abandoned", async () => {
    const run = await createRun(two.stores.runs);
    const id = idOf(run, "0123456789");
    await two.blobs.appendUpload(id, 0, streamOf("01234"));
    expect(await send(0, run, "0123456789", undefined)).toEqual({ done: false, offset: 5 });
    expect(await send(1, run, "0123456789", [5, "56789"])).toMatchObject({ done: true });
    expect(await read(run)).toBe("0123456789");
    await two.blobs.appendUpload(id, 0, streamOf("01234"));
    expect(await two.cores[0].uploads.expire()).toBe(0);
    two.clock.us += 25 * HOUR_US;
    expect(await two.cores[0].uploads.expire()).toBe(1);
    expect(await unfinished()).toBe(0);
  });

  it("F2 F16 a core's partial digest is not trusted once another has written", async () => {
    const run = await createRun(two.stores.runs);
    await send(0, run, "good bytes", [0, "good "]);
    // Dropped, since it differs from the announced content.
    await expect(send(1, run, "good bytes", [5, "bytez"])).rejects.toEqual(refused("invalid"));
    await send(1, run, "good bytes", [0, "evil "]);
    await expect(send(0, run, "good bytes", [5, "bytes"])).rejects.toEqual(refused("invalid"));
    expect(await listed(two.blobs)).toEqual([]);
  });

  it("F7 F16 the limit of a principal counts uploads begun through any core", async () => {
    const run = await createRun(two.stores.runs);
    for (let i = 0; i < limits.uploadsPerPrincipalMax; i++) {
      await send(i % 2, run, "ab", [0, "a"], streamOf("a"), `f${i}`);
    }
    for (const core of [0, 1]) {
      await expect(send(core, run, "ab", [0, "a"], streamOf("a"), "more")).rejects.toEqual(
        refused("exhausted", "TOO_MANY_UPLOADS"),
      );
    }
  });

  it("F7 F16 an abandoned upload is dropped once, by one of them, and a running one is not", async () => {
    const run = await createRun(two.stores.runs);
    for (let i = 0; i < 5; i++) await send(i % 2, run, "ab", [0, "a"], streamOf("a"), `f${i}`);
    two.clock.us += 25 * HOUR_US;
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    async function* slow() {
      begun.resolve();
      await gate.promise;
      yield Buffer.from("b");
    }
    const going = send(0, run, "ab", [1, "b"], slow(), "f0");
    await begun.promise;
    const dropped = await Promise.all(two.cores.map(({ uploads }) => uploads.expire()));
    expect(dropped[0]! + dropped[1]!).toBe(4);
    gate.resolve();
    expect(await going).toMatchObject({ done: true });
    expect(await unfinished()).toBe(0);
  });
}
