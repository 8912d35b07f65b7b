import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { VerifyRunResponse } from "#proto/cairn/v1/system_pb.ts";
import type { Clients } from "#wire/connect/testing/ways.ts";
import { artifactName, type Writer } from "./writer.ts";

const PAGE = 10_000;

/** A writer, with everything that its envelopes had stored at the last check. */
export class WriterCheck {
  readonly writer: Writer;
  /** Up to where its envelopes are stored. */
  stored = 0;
  /** Its lines, in the order it wrote them. */
  readonly lines: string[] = [];
  /** By key. */
  readonly series = new Map<string, { steps: number[]; values: number[] }>();
  /** SHA-256 of the artifacts it recorded, by step. */
  readonly #artifacts = new Map<number, string>();

  constructor(writer: Writer) {
    this.writer = writer;
  }

  /** Everything of this writer is there that must be, as it must be. Gives how many points that are. */
  async run({ metrics, artifacts }: Clients, verified: VerifyRunResponse): Promise<number> {
    const { writer } = this;
    const ledger = verified.writers.find(({ writer: name }) => name === writer.name);
    const stored = Number(ledger?.lastSeq ?? 0);
    expect(Number(ledger?.envelopes ?? 0), writer.name).toBe(stored);
    expect(stored, `${writer.name}: acknowledged`).toBeGreaterThanOrEqual(writer.acknowledged);
    expect(stored, `${writer.name}: sent`).toBeLessThanOrEqual(writer.sent);
    this.#take(stored);
    await this.#checkSeries(metrics);
    await this.#checkArtifacts(artifacts);
    return this.points;
  }

  /** The params its envelopes have left. */
  params(): Record<string, string> {
    for (let seq = this.stored; seq > 0; seq--) {
      const { params } = this.writer.content(seq);
      if (Object.keys(params).length > 0) return params;
    }
    return {};
  }

  get points(): number {
    let points = 0;
    for (const { values } of this.series.values()) points += values.length;
    return points;
  }

  #take(stored: number): void {
    for (let seq = this.stored + 1; seq <= stored; seq++) {
      const { series, lines, artifact } = this.writer.content(seq);
      for (const { key, steps, values } of series) {
        const known = this.series.get(key) ?? { steps: [], values: [] };
        this.series.set(key, known);
        known.steps.push(...steps);
        known.values.push(...values);
      }
      this.lines.push(...lines);
      if (artifact !== undefined) {
        this.#artifacts.set(seq, createHash("sha256").update(artifact).digest("hex"));
      }
    }
    this.stored = stored;
  }

  async #checkSeries(metrics: Clients["metrics"]): Promise<void> {
    if (this.series.size === 0) return;
    const keys = [...this.series.keys()];
    const read = await metrics.readSeries({
      series: keys.map((key) => ({ run: { id: this.writer.runId }, key })),
    });
    for (const key of keys) {
      const { steps, values } = this.series.get(key)!;
      const data = read.series.find((one) => one.key === key);
      expect(isSame(data?.values?.bytes, values), `values of ${key}`).toBe(true);
      expect(isSame(data?.steps?.bytes, steps), `steps of ${key}`).toBe(true);
    }
  }

  async #checkArtifacts(artifacts: Clients["artifacts"]): Promise<void> {
    const { runId, name } = this.writer;
    const prefix = artifactName(name);
    const { artifacts: found } = await artifacts.listArtifacts({
      run: { id: runId },
      prefix,
      pageSize: PAGE,
    });
    expect(new Map(found.map(({ step, sha256 }) => [Number(step), sha256]))).toEqual(this.#artifacts);
  }
}

function isSame(bytes: Uint8Array | undefined, values: readonly number[]): boolean {
  return Buffer.from(Float64Array.from(values).buffer).equals(bytes ?? new Uint8Array(0));
}
