import { expect, it } from "vitest";
import { buildCore, CALLER } from "../core-under-test.ts";
import { callerWithout } from "../masked-caller.ts";
import { refused, useStores, type OpenStores } from "../stores.ts";

const create = { description: "", objective: undefined };

export function coreNamespacesContract(open: OpenStores): void {
  const bench = useStores(open);

  it("N9 callers that may read a namespace find it by its id as by its path", async () => {
    const { namespaces } = await buildCore(bench.under);
    const made = await namespaces.create(CALLER, { path: "lab/secret", ...create });
    expect(await namespaces.get(CALLER, made.id)).toEqual(await namespaces.get(CALLER, "lab/secret"));
    const { id: parent } = await namespaces.get(CALLER, "lab");
    const ann = callerWithout({ namespaces: ["other"] }, "read");
    expect((await namespaces.get(ann, made.id)).path).toBe("lab/secret");
    const eve = callerWithout({ namespaces: ["lab"] }, "read");
    for (const id of [parent, made.id, made.id + 1_000]) {
      const message = `cannot find namespace with id "${id}"`;
      await expect(namespaces.get(eve, id)).rejects.toEqual(refused("not-found", undefined, { message }));
    }
    for (const id of [-1, 0.5, NaN])
      await expect(namespaces.get(CALLER, id)).rejects.toEqual(refused("invalid"));
  });

  it("N10 tags of a namespace have the limits of those of runs", async () => {
    const { namespaces } = await buildCore(bench.under);
    const tags = (key: string, value: string) => new Map([[key, value]]);
    const path = "lab";
    await expect(namespaces.create(CALLER, { path, ...create, tags: tags("", "x") })).rejects.toEqual(
      refused("invalid"),
    );
    const made = await namespaces.create(CALLER, { path, ...create, tags: tags("team", "asr") });
    expect(made.tags).toEqual(tags("team", "asr"));
    await expect(namespaces.update(CALLER, { path, tags: tags("a", "x".repeat(8_193)) })).rejects.toEqual(
      refused("exhausted", "LIMIT_EXCEEDED"),
    );
    const updated = await namespaces.update(CALLER, { path, tags: tags("a", "1"), removeTags: ["team"] });
    expect(updated.tags).toEqual(tags("a", "1"));
  });
}
