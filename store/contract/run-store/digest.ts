import { expect, it } from "vitest";
import type { ArtifactRecord } from "#core/types/artifact.ts";
import { NO_CODE, NO_PROVENANCE, type Provenance } from "#core/types/provenance.ts";
import type { RunChange } from "#core/types/run.ts";
import type { RunAppend } from "#core/ports/journal.ts";
import { artifactRecord } from "../artifact-record.ts";
import { logLines } from "../naive-log.ts";
import {
  appendOne,
  createRun,
  envelope,
  NOW_US,
  numbers,
  points,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

export function digestContract(open: OpenStores): void {
  const bench = useStores(open);
  const one = (id: string, seq: number, more: Partial<RunAppend> = {}) =>
    envelope(id, seq, { series: [numbers("loss", [seq], seq)], ...more });

  it("E10, U11: whether params are written once is part of the content", async () => {
    const id = await createRun(bench.runs);
    const change: RunChange = { params: new Map([["lr", "1"]]), paramsOnce: true };
    await appendOne(bench.journal, one(id, 1, { change }));
    await bench.runs.updateRun(id, { params: new Map([["lr", "2"]]) }, NOW_US);
    // A duplicate is not checked again.
    expect(await appendOne(bench.journal, one(id, 1, { change }))).toMatchObject({ duplicate: true });
    const plain = one(id, 1, { change: { params: change.params! } });
    await expect(appendOne(bench.journal, plain)).rejects.toEqual(refused("exists", "SEQ_REUSED"));
  });

  it("E10 recognizes an envelope in any order of its maps", async () => {
    const id = await createRun(bench.runs);
    const provenance: Provenance = {
      ...NO_PROVENANCE,
      study: "s",
      code: { ...NO_CODE, commit: "c" },
      environment: new Map([
        ["a", "1"],
        ["b", "2"],
      ]),
    };
    const pairs = [
      ["x", "1"],
      ["ab", "2"],
      ["z", "3"],
    ] as const;
    const change: RunChange = {
      status: "running",
      name: "n",
      params: new Map(pairs),
      tags: new Map(pairs),
      provenance,
      captured: provenance,
      addProvenance: provenance,
    };
    const again: Provenance = {
      environment: new Map([
        ["b", "2"],
        ["a", "1"],
      ]),
      command: [],
      study: "s",
      user: "",
      logsLocation: "",
      featurePipeline: "",
      testData: [],
      trainingData: [],
      code: { ...NO_CODE, untrackedFiles: undefined, commit: "c" },
      initialState: "",
    };
    const reordered: RunChange = {
      addProvenance: again,
      captured: again,
      provenance: again,
      tags: new Map(pairs.toReversed()),
      params: new Map(pairs.toReversed()),
      name: "n",
      status: "running",
    };
    await appendOne(bench.journal, one(id, 1, { change }));
    await appendOne(
      bench.journal,
      one(id, 4, {
        lost: [
          { first: 2, last: 2 },
          { last: 3, first: 3 },
        ],
      }),
    );
    expect(await appendOne(bench.journal, one(id, 1, { change: reordered }))).toMatchObject({
      duplicate: true,
    });
    const same = one(id, 4, {
      lost: [
        { first: 3, last: 3 },
        { first: 2, last: 2 },
      ],
    });
    expect(await appendOne(bench.journal, same)).toMatchObject({ duplicate: true });
  });

  it("E10 recognizes artifacts and lines, and distinguishes different ones", async () => {
    const id = await createRun(bench.runs);
    const pairs = [
      ["a", "1"],
      ["b", "2"],
    ] as const;
    const made = (parts: Partial<ArtifactRecord> = {}, text = "line") =>
      envelope(id, 1, {
        log: [logLines([text])],
        artifacts: [artifactRecord({ content: Buffer.from("x"), metadata: new Map(pairs), ...parts })],
      });
    await appendOne(bench.journal, made());
    const same = [made(), made({ metadata: new Map(pairs.toReversed()) })];
    for (const again of same) {
      expect(await appendOne(bench.journal, again)).toMatchObject({ duplicate: true });
    }
    const others = [
      made({}, "other"),
      made({ content: Buffer.from("y") }),
      made({ content: undefined, uri: "s3://x" }),
      made({ name: "other" }),
      made({ step: 0 }),
      made({ kind: "model" }),
      made({ mediaType: "text/html" }),
      made({ metadata: new Map([["a", "1"]]) }),
      { ...made(), artifacts: [] },
      { ...made(), log: undefined },
    ];
    for (const other of others) {
      await expect(appendOne(bench.journal, other)).rejects.toEqual(refused("exists", "SEQ_REUSED"));
    }
    const empty = { ...envelope(id, 2), log: [], artifacts: [] };
    await appendOne(bench.journal, empty);
    expect(await appendOne(bench.journal, envelope(id, 2))).toMatchObject({ duplicate: true });
  });

  it("N7 E10 recognizes an envelope of which only a part was stored, and stores no more of it", async () => {
    const id = await createRun(bench.runs);
    const sent = (seq: number, kept?: RunAppend["kept"]) =>
      one(id, seq, {
        log: [logLines(["a"]), logLines(["b"])],
        artifacts: [artifactRecord({ uri: "s3://x" })],
        kept,
      });
    const none = { log: undefined, artifacts: undefined, change: undefined };
    await appendOne(bench.journal, sent(1, { ...none, log: [logLines(["b"])] }));
    await appendOne(bench.journal, sent(2));
    await appendOne(bench.journal, sent(3, none));
    for (const seq of [1, 2, 3]) {
      expect(await appendOne(bench.journal, sent(seq))).toMatchObject({ seq, duplicate: true });
      expect(await appendOne(bench.journal, sent(seq, none))).toMatchObject({ seq, duplicate: true });
      const other = one(id, seq, { log: [logLines(["b"])] });
      await expect(appendOne(bench.journal, other)).rejects.toEqual(refused("exists", "SEQ_REUSED"));
    }
    expect(await bench.under.logs.lineCount(id)).toBe(3);
  });

  it("E10 recognizes an envelope whether a field was absent or an empty list", async () => {
    const id = await createRun(bench.runs);
    await appendOne(bench.journal, one(id, 1, { change: { name: "n" } }));
    const empty: RunChange = {
      name: "n",
      params: new Map(),
      tags: new Map(),
      removeTags: [],
      onlyIfAbsent: false,
    };
    expect(await appendOne(bench.journal, one(id, 1, { change: empty }))).toMatchObject({ duplicate: true });
    await appendOne(bench.journal, one(id, 2));
    expect(await appendOne(bench.journal, one(id, 2, { change: {} }))).toMatchObject({ duplicate: true });
    const values = { kind: "number", data: Float64Array.of(3) } as const;
    const times = Float64Array.of(NOW_US);
    const series = (nanos: Uint16Array | undefined) => [
      { key: "t", labels: [], points: points(values, { times, nanos }) },
    ];
    await appendOne(bench.journal, envelope(id, 3, { series: series(undefined) }));
    const zero = envelope(id, 3, { series: series(Uint16Array.of(0)) });
    expect(await appendOne(bench.journal, zero)).toMatchObject({ duplicate: true });
  });
}
