import { expect, it } from "vitest";
import { FORBIDS_NOTHING } from "#core/types/capture.ts";
import type { NamespaceChange } from "#core/ports/namespace-store.ts";
import type { KeyDescription, Namespace } from "#core/types/namespace.ts";
import { limits } from "#lang/limits.ts";
import { ancestors } from "#lang/namespace-path.ts";
import {
  AUDIT,
  createRun,
  getRun,
  inEveryForm,
  newNamespace,
  NOW_US,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

/** As stored. */
function stored(path: string, more: Partial<Namespace> = {}): Namespace {
  const id: number = expect.any(Number);
  return { id, ...newNamespace(path), capture: FORBIDS_NOTHING, deletedUs: undefined, ...more };
}

function described(path: string, key: string, more: Partial<KeyDescription> = {}): KeyDescription {
  return {
    namespace: path,
    key,
    unit: "",
    direction: undefined,
    description: "",
    picture: undefined,
    ...more,
  };
}

const ALL = { limit: 1_000, bytesMax: Infinity };

export function namespacesContract(open: OpenStores): void {
  const bench = useStores(open);
  const paths = async (page: { under?: string; after?: string; limit?: number } = {}) => {
    const { rows } = await bench.namespaces.listNamespaces({ under: "", after: undefined, ...ALL, ...page });
    return rows.map(({ path }) => path);
  };
  const keysOf = async (path: string) =>
    (await bench.namespaces.listKeys([...ancestors(path), path], { after: undefined, ...ALL })).rows;

  it("keeps the description of a namespace", async () => {
    const lab = {
      description: "Speech 🎤",
      objective: { metric: "wer", direction: "minimize" },
      tags: new Map([["team", "speech"]]),
      createdUs: NOW_US - 5,
    } as const;
    const created = await bench.namespaces.createNamespace(newNamespace("lab/asr", lab));
    expect(created).toEqual(stored("lab/asr", lab));
    await inEveryForm(bench, async () => {
      expect(await bench.namespaces.findNamespace("lab/asr")).toEqual(created);
      expect(await bench.namespaces.findNamespace(created.id)).toEqual(created);
      expect(await bench.namespaces.findNamespace("lab/asr/en")).toBeUndefined();
    });
  });

  it("creates the parents that are missing, and refuses a path that is taken", async () => {
    await bench.namespaces.createNamespace(newNamespace("a/b/c"));
    expect(await paths()).toEqual(["a", "a/b", "a/b/c"]);
    await expect(bench.namespaces.createNamespace(newNamespace("a/b"))).rejects.toEqual(refused("exists"));
    await expect(bench.namespaces.createNamespace(newNamespace("a/b/c"))).rejects.toEqual(refused("exists"));
  });

  it("U7 creates the namespace of a run with its parents", async () => {
    const id = await createRun(bench.runs, { namespace: "deep/er/still", createdUs: NOW_US + 7 });
    expect(await getRun(bench.runs, id)).toMatchObject({ namespace: "deep/er/still" });
    expect(await paths()).toEqual(["deep", "deep/er", "deep/er/still"]);
    expect(await bench.namespaces.findNamespace("deep")).toEqual(stored("deep", { createdUs: NOW_US + 7 }));
  });

  it("U7 creates no namespace for a run that is refused", async () => {
    const id = await createRun(bench.runs);
    await expect(createRun(bench.runs, { id, namespace: "never" })).rejects.toMatchObject({
      name: "CairnError",
    });
    expect(await paths()).toEqual(["lab"]);
  });

  it("N1 lists parents before children, with any names of neighbours", async () => {
    const all = ["a", "a/b", "a/b/c", "a/b-c", "a/ä", "a!", "a-b", "a.b", "a0", "ab", "b", "ä/x", "🐱"];
    for (const path of all.toReversed()) {
      if ((await bench.namespaces.findNamespace(path)) === undefined) {
        await bench.namespaces.createNamespace(newNamespace(path));
      }
    }
    const listed = await paths();
    expect(listed.toSorted()).toEqual([...new Set([...all, "ä"])].toSorted());
    for (const path of listed) {
      const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
      if (parent !== "") expect(listed.indexOf(parent)).toBeLessThan(listed.indexOf(path));
    }
    const inSubtree = listed.filter((path) => path === "a" || path.startsWith("a/"));
    expect(await paths({ under: "a" })).toEqual(inSubtree);
    // A subtree is contiguous: nothing is between a namespace and its descendants.
    expect(listed.slice(0, inSubtree.length)).toEqual(inSubtree);
    expect(await paths({ under: "nothing" })).toEqual([]);
  });

  it("N1 lists in pages that miss nothing and repeat nothing", async () => {
    for (const path of ["a/b/c", "a-b", "b/a", "c"])
      await bench.namespaces.createNamespace(newNamespace(path));
    const all = await paths();
    for (const under of ["", "a", "b"]) {
      const found: string[] = [];
      for (let after: string | undefined; ;) {
        const page = await paths({ under, limit: 2, ...(after !== undefined && { after }) });
        found.push(...page);
        after = page.at(-1);
        if (after === undefined) break;
      }
      expect(found).toEqual(all.filter((path) => under === "" || `${path}/`.startsWith(`${under}/`)));
    }
  });

  it("updates the description and sets or removes the objective", async () => {
    await bench.namespaces.createNamespace(newNamespace("lab"));
    const objective = { metric: "loss", direction: "minimize" } as const;
    expect(await bench.namespaces.updateNamespace("lab", { objective })).toEqual(
      stored("lab", { objective }),
    );
    expect(await bench.namespaces.updateNamespace("lab", { description: "x" })).toEqual(
      stored("lab", { objective, description: "x" }),
    );
    expect(await bench.namespaces.updateNamespace("lab", { objective: null })).toEqual(
      stored("lab", { description: "x" }),
    );
    expect(await bench.namespaces.findNamespace("lab")).toEqual(stored("lab", { description: "x" }));
    await expect(bench.namespaces.updateNamespace("nowhere", {})).rejects.toEqual(refused("not-found"));
  });

  it("N9 never reuses the id of a namespace, also after a restart", async () => {
    const create = async (path: string) => (await bench.namespaces.createNamespace(newNamespace(path))).id;
    const [first, second] = [await create("a"), await create("b")];
    expect(first).toBeGreaterThan(0);
    await bench.namespaces.deleteNamespace("b", AUDIT);
    await bench.reopen();
    const third = await create("b");
    await bench.namespaces.deleteNamespace("b", AUDIT);
    const fourth = await create("c");
    expect(new Set([0, first, second, third, fourth]).size).toBe(5);
    expect(await bench.namespaces.findNamespace(second)).toBeUndefined();
    expect(await bench.namespaces.findNamespace(fourth)).toMatchObject({ path: "c" });
  });

  it("N10 merges tags per key, with an entry in the audit when that changed something", async () => {
    const { namespaces } = bench.under;
    const tagsAfter = async (change: NamespaceChange) =>
      Object.fromEntries((await namespaces.updateNamespace("lab", change, AUDIT)).tags);
    const many = (count: number) => new Map(Array.from({ length: count }, (_, i) => [`key${i}`, ""]));
    await namespaces.createNamespace(newNamespace("lab", { tags: new Map([["team", "asr"]]) }));
    expect(await tagsAfter({ tags: new Map([["a", "1"]]) })).toEqual({ team: "asr", a: "1" });
    const change = { tags: new Map([["a", "2"]]), removeTags: ["team", "nothing"] };
    expect(await tagsAfter(change)).toEqual({ a: "2" });
    expect(await tagsAfter(change)).toEqual({ a: "2" });
    await expect(tagsAfter({ tags: many(limits.tagsPerRunMax) })).rejects.toEqual(
      refused("exhausted", "LIMIT_EXCEEDED"),
    );
    const large = new Map(Array.from({ length: 200 }, (_, i) => [`key${i}`, "x".repeat(8 << 10)]));
    await expect(tagsAfter({ tags: large })).rejects.toEqual(refused("exhausted", "LIMIT_EXCEEDED"));
    await inEveryForm(bench, async () => {
      expect(await bench.namespaces.findNamespace("lab")).toEqual(stored("lab", { tags: change.tags }));
    });
    expect(await bench.under.access.getAuditHead()).toMatchObject({ count: 2 });
  });

  it("N5 keeps the capture policy of a namespace, and lists all that forbid something", async () => {
    await bench.namespaces.createNamespace(newNamespace("lab/asr"));
    await bench.namespaces.createNamespace(newNamespace("lab/mt"));
    const console = { forbidsConsole: true, forbidsCode: false };
    const both = { forbidsConsole: true, forbidsCode: true };
    expect(await bench.namespaces.updateNamespace("lab/asr", { forbidsConsole: true })).toEqual(
      stored("lab/asr", { capture: console }),
    );
    expect(await bench.namespaces.updateNamespace("lab/asr", { forbidsCode: true })).toMatchObject({
      capture: both,
    });
    await bench.namespaces.updateNamespace("lab", { forbidsConsole: true, forbidsCode: false }, AUDIT);
    await inEveryForm(bench, async () => {
      expect(await bench.namespaces.findNamespace("lab/asr")).toMatchObject({ capture: both });
      expect(await bench.namespaces.listCapturePolicies()).toEqual([
        ["lab", console],
        ["lab/asr", both],
      ]);
    });
    await bench.namespaces.updateNamespace("lab", { forbidsConsole: false });
    await bench.namespaces.deleteNamespace("lab/asr", AUDIT);
    await bench.namespaces.createNamespace(newNamespace("lab/asr"));
    expect(await bench.namespaces.listCapturePolicies()).toEqual([]);
  });

  it("N6 writes the audit entry together with the policy, or neither", async () => {
    const { under } = bench;
    const entries = async () => {
      const all = { principal: undefined, action: undefined, target: undefined, before: undefined, limit: 9 };
      return (await under.access.listAudit(all)).map(({ action }) => action);
    };
    await bench.namespaces.createNamespace(newNamespace("lab"));
    await expect(bench.namespaces.updateNamespace("nowhere", { forbidsCode: true }, AUDIT)).rejects.toEqual(
      refused("not-found"),
    );
    expect(await entries()).toEqual([]);
    await bench.namespaces.updateNamespace("lab", { forbidsCode: true }, AUDIT);
    expect(await entries()).toEqual([AUDIT.action]);
  });

  it("N33 deletes only a namespace that holds no run, none in the trash, and no child", async () => {
    const id = await createRun(bench.runs, { namespace: "a/b" });
    const notEmpty = refused("precondition", "NAMESPACE_NOT_EMPTY");
    await expect(bench.namespaces.deleteNamespace("a", AUDIT)).rejects.toEqual(notEmpty);
    await expect(bench.namespaces.deleteNamespace("a/b", AUDIT)).rejects.toEqual(notEmpty);
    await bench.runs.setDeleted(id, NOW_US, AUDIT);
    await expect(bench.namespaces.deleteNamespace("a/b", AUDIT)).rejects.toEqual(notEmpty);
    await bench.runs.purgeRun(id, AUDIT);
    await bench.namespaces.createNamespace(newNamespace("a/b-c"));
    await bench.namespaces.deleteNamespace("a/b", AUDIT);
    expect(await paths()).toEqual(["a", "a/b-c"]);
    await expect(bench.namespaces.deleteNamespace("a/b", AUDIT)).rejects.toEqual(refused("not-found"));
  });

  it("N18 deletes descriptions of keys, so that a namespace of the same name starts empty", async () => {
    await bench.namespaces.describeKey(described("a/b", "loss", { unit: "nats" }));
    await bench.namespaces.deleteNamespace("a/b", AUDIT);
    await bench.namespaces.createNamespace(newNamespace("a/b"));
    expect(await keysOf("a/b")).toEqual([]);
  });

  it("N4 finds the description of a key in the namespace and above it; the nearest wins", async () => {
    const far = described("lab", "loss", { unit: "nats", direction: "minimize", picture: "line" });
    const near = described("lab/asr", "loss", { description: "CTC 🎯", picture: "accuracy" });
    const other = described("lab", "__proto__", { direction: "maximize" });
    const beside = described("lab/asr-x", "acc");
    for (const one of [near, far, other, beside]) await bench.namespaces.describeKey(one);
    await inEveryForm(bench, async () => {
      expect(await keysOf("lab")).toEqual([other, far]);
      expect(await keysOf("lab/asr")).toEqual([other, near]);
      expect(await keysOf("lab/asr/en")).toEqual([other, near]);
      expect(await keysOf("lab/asr-x")).toEqual([other, beside, far].toSorted(byKey));
      expect(await keysOf("laboratory")).toEqual([]);
    });
  });

  it("N4 replaces a description as a whole", async () => {
    await bench.namespaces.describeKey(described("lab", "loss", { unit: "nats", direction: "minimize" }));
    await bench.namespaces.describeKey(described("lab", "loss", { description: "new" }));
    expect(await keysOf("lab")).toEqual([described("lab", "loss", { description: "new" })]);
  });

  it("N201 keeps the range of a key, and an absent end of it", async () => {
    const ranged = described("lab", "acc", { min: 0, max: 1 });
    const halfOpen = described("lab", "loss", { min: -0.5 });
    expect(await bench.namespaces.describeKey(ranged)).toEqual(ranged);
    await bench.namespaces.describeKey(halfOpen);
    await inEveryForm(bench, async () => expect(await keysOf("lab")).toEqual([ranged, halfOpen]));
  });

  it("N202 fills in what the nearest description does not say, and changes nothing where it says all", async () => {
    const { namespaces } = bench;
    const full = described("lab", "acc", {
      unit: "",
      direction: "maximize",
      picture: "accuracy",
      min: 0,
      max: 1,
    });
    const fill = (path: string, more: Partial<KeyDescription>, absentIn: string[]) =>
      namespaces.describeKey(described(path, "acc", more), AUDIT, absentIn);
    expect(await fill("lab", full, ["lab"])).toEqual(full);
    // Inherited, so that not even the namespace is created.
    expect(await fill("lab/new", { direction: "minimize", max: 9 }, ["lab", "lab/new"])).toEqual(full);
    expect(await paths()).toEqual(["lab"]);
    const own = described("lab/new", "acc", { ...full, namespace: "lab/new", unit: "%" });
    expect(await fill("lab/new", { unit: "%", direction: "minimize" }, ["lab", "lab/new"])).toEqual(own);
    expect(await keysOf("lab")).toEqual([full]);
    expect(await keysOf("lab/new")).toEqual([own]);
    // Of a namespace that is not among those given nothing is copied.
    expect(await fill("lab/beside", { min: 2 }, ["lab/beside"])).toEqual(
      described("lab/beside", "acc", { min: 2 }),
    );
    // Ends of two ranges need not make one.
    const ends = await fill("lab/beside", { max: 1, unit: "%" }, ["lab/beside"]);
    expect(ends).toEqual(described("lab/beside", "acc", { min: 2, unit: "%" }));
  });

  it("keeps the first value of a setting", async () => {
    expect(await bench.engine.getSetting("token")).toBeUndefined();
    const all = await Promise.all(
      ["one", "two", "three"].map((value) => bench.engine.initSetting("token", value)),
    );
    expect(all).toEqual(["one", "one", "one"]);
    await inEveryForm(bench, async () => {
      expect(await bench.engine.getSetting("token")).toBe("one");
    });
  });
}

function byKey(a: KeyDescription, b: KeyDescription): number {
  return a.key < b.key ? -1 : 1;
}
