import { describe, expect, it } from "vitest";
import { WorkSlots } from "./work-slots.ts";

const ANYONE = new AbortController().signal;

function slots(
  limits: { perOwnerMax?: number; allMax?: number; waitingPerOwnerMax?: number } = {},
): WorkSlots {
  return new WorkSlots({ perOwnerMax: 2, allMax: 3, waitingPerOwnerMax: 10, ...limits });
}

/** Requests slots of these owners at once and records which began, in order. */
function queue(of: WorkSlots, owners: readonly string[]): { begun: string[]; finish: (() => void)[] } {
  const begun: string[] = [];
  const finish: (() => void)[] = [];
  for (const owner of owners) {
    void of.take(owner, ANYONE).then((over) => {
      begun.push(owner);
      finish.push(over);
    });
  }
  return { begun, finish };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("expensive work", () => {
  it("K11 begins as much work of one owner as its share, and the rest after that", async () => {
    const { begun, finish } = queue(slots(), ["ada", "ada", "ada", "ada"]);
    await settled();
    expect(begun).toHaveLength(2);
    finish[0]!();
    finish[0]!();
    await settled();
    expect(begun).toHaveLength(3);
    finish[1]!();
    finish[2]!();
    await settled();
    expect(begun).toHaveLength(4);
  });

  it("K11 gives free slots to owners in turn", async () => {
    const all = slots({ perOwnerMax: 3, allMax: 3 });
    const { begun, finish } = queue(all, ["ada", "ada", "ada", "ada", "ada", "ben", "ben", "cleo"]);
    await settled();
    expect(begun).toEqual(["ada", "ada", "ada"]);
    for (let i = 0; i < 5; i++) {
      finish[i]!();
      await settled();
    }
    expect(begun.slice(3)).toEqual(["ada", "ben", "cleo", "ada", "ben"]);
    for (const over of finish) over();
    expect(all.running).toBe(0);
  });

  it("K12 drops work whose caller disconnected", async () => {
    const all = slots({ perOwnerMax: 1 });
    const over = await all.take("ada", ANYONE);
    const gone = new AbortController();
    const left = all.take("ada", gone.signal);
    const stayed = all.take("ada", ANYONE);
    const reason = new Error("the client disconnected");
    gone.abort(reason);
    await expect(left).rejects.toBe(reason);
    expect(all.waiting).toBe(1);
    over();
    (await stayed)();
    expect([all.running, all.waiting]).toEqual([0, 0]);
    await expect(all.take("ada", gone.signal)).rejects.toBe(reason);
  });

  it("K11 refuses work when the queue is full", async () => {
    const all = slots({ perOwnerMax: 1, waitingPerOwnerMax: 2 });
    queue(all, ["ada", "ada", "ada"]);
    await expect(all.take("ada", ANYONE)).rejects.toMatchObject({ code: "exhausted", reason: "QUOTA" });
    await expect(all.take("ben", ANYONE)).resolves.toBeInstanceOf(Function);
  });
});
