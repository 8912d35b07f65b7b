import { expect, it } from "vitest";
import type { RunChange } from "#core/types/run.ts";
import {
  appendOne,
  AUDIT,
  createRun,
  envelope,
  getRun,
  inEveryForm,
  newNamespace,
  newRun,
  NOW_US,
  useStores,
  type OpenStores,
} from "../stores.ts";

const by = (principal: string) => ({ ...AUDIT, principal });

/** Which principals a run remembers. */
export function whoContract(open: OpenStores): void {
  const bench = useStores(open);
  const whoOf = async (id: string) => {
    const { creator, endedBy, changedBy, deletedBy } = await getRun(bench.runs, id);
    return { creator, endedBy, changedBy, deletedBy };
  };
  const unknown = { creator: "", endedBy: "", changedBy: "", deletedBy: "" };
  let seq = 0;
  const write = (id: string, change: RunChange | undefined, principal: string) =>
    appendOne(
      bench.journal,
      envelope(id, ++seq, { change, audit: { change: by(principal), artifacts: [] } }),
    );

  it("U207 a run keeps who created it", async () => {
    const id = await createRun(bench.runs, { creator: "ada", aliases: ["job"] });
    await bench.runs.updateRun(id, { name: "other" }, NOW_US, by("eve"));
    const again = await bench.runs.createRun(newRun({ creator: "eve", aliases: ["job"] }), {
      getOrCreate: true,
    });
    expect(again).toMatchObject({ created: false, run: { id, creator: "ada" } });
    await inEveryForm(bench, async () => {
      expect(await whoOf(id)).toEqual({ ...unknown, creator: "ada", changedBy: "eve" });
    });
  });

  it("U208 a run has who ended it, until it runs again or ends differently", async () => {
    seq = 0;
    const id = await createRun(bench.runs);
    await write(id, { status: "failed", endedUs: NOW_US }, "ada");
    expect(await whoOf(id)).toEqual({ ...unknown, endedBy: "ada" });
    await bench.runs.updateRun(id, { status: "failed" }, NOW_US, by("eve"));
    expect(await whoOf(id)).toEqual({ ...unknown, endedBy: "ada" });
    await bench.runs.updateRun(id, { status: "killed" }, NOW_US, by("eve"));
    expect(await whoOf(id)).toEqual({ ...unknown, endedBy: "eve" });
    await bench.runs.updateRun(id, { status: "running", heartbeatSeconds: 1 }, NOW_US, by("eve"));
    expect(await whoOf(id)).toEqual(unknown);
    // A run that the server finds lost was not ended by a principal.
    expect(await bench.runs.expireHeartbeats(NOW_US + 1e9)).toBe(1);
    expect(await getRun(bench.runs, id)).toMatchObject({ status: "lost", ...unknown });
    await write(id, { status: "finished" }, "ada");
    expect(await whoOf(id)).toEqual({ ...unknown, endedBy: "ada" });
  });

  it("U209 a run has who changed it last, for which points, status and heartbeats do not count", async () => {
    seq = 0;
    const id = await createRun(bench.runs);
    for (const change of [
      undefined,
      { heartbeatSeconds: 5 },
      { status: "finished", endedUs: NOW_US } as const,
    ]) {
      await write(id, change, "ada");
    }
    expect((await whoOf(id)).changedBy).toBe("");
    await write(id, { params: new Map([["lr", "1"]]) }, "ada");
    expect((await whoOf(id)).changedBy).toBe("ada");
    await bench.runs.updateRun(id, { notes: "n" }, NOW_US, by("eve"));
    expect((await whoOf(id)).changedBy).toBe("eve");
    await bench.runs.updateRun(id, { notes: "by the server" }, NOW_US);
    await write(id, { status: "running" }, "bob");
    expect((await whoOf(id)).changedBy).toBe("eve");
  });

  it("U210 a run in the trash has who put it there, also with its namespace, and a restored one has not", async () => {
    await bench.namespaces.createNamespace(newNamespace("lab/old"));
    const id = await createRun(bench.runs, { namespace: "lab/old" });
    const own = await createRun(bench.runs, { namespace: "lab/old" });
    await bench.runs.setDeleted(own, NOW_US, by("ada"));
    await bench.namespaces.trashNamespace("lab/old", NOW_US, by("bob"));
    await bench.namespaces.trashNamespace("lab", NOW_US, by("eve"));
    await inEveryForm(bench, async () => {
      expect([(await whoOf(id)).deletedBy, (await whoOf(own)).deletedBy]).toEqual(["bob", "ada"]);
    });
    await bench.namespaces.trashNamespace("lab", undefined, by("eve"));
    expect((await whoOf(id)).deletedBy).toBe("bob");
    await bench.namespaces.trashNamespace("lab/old", undefined, by("eve"));
    expect([(await whoOf(id)).deletedBy, (await whoOf(own)).deletedBy]).toEqual(["", "ada"]);
    await bench.runs.setDeleted(own, undefined, by("eve"));
    expect((await whoOf(own)).deletedBy).toBe("");
  });
}
