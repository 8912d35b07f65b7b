import fc from "fast-check";
import { expect, it } from "vitest";
import type { Identity } from "#core/access/caller.ts";
import { CairnError } from "#lang/errors.ts";
import { ADMIN, as, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { reference } from "../artifact-samples.ts";
import { NOW_US, readNumbers, refused, useStores, type OpenStores } from "../stores.ts";
import { withMethod } from "../with-method.ts";
import { makeRun, refTo, SEARCH, SOON, TwoCores, writeNumbered } from "./moving.ts";

const MODELS = { query: "", namespace: "", pageSize: 0, pageToken: "" };
const PATHS = ["a", "a/b", "c"];
const NAMES = ["u1", "u2", "everyone"];

/** Runs that one core moves while another uses them. */
export function coreAccessMovesTwoCoresContract(open: OpenStores): void {
  const bench = useStores(open);
  const two = new TwoCores(bench);
  const move = (at: AccessUnderTest, id: string, namespace: string) =>
    at.core.runMoves.move(ADMIN, refTo(id), namespace);

  it("H14, U21: a run that is moved here is found there within a second, also if it was cached", async () => {
    await two.first.user("ada");
    await two.first.bind("ada", "viewer", on("b"));
    const ada = await two.atSecond("ada");
    const id = await makeRun(two.first, "a");
    for (const { runs } of [two.first, two.second]) {
      expect((await runs.whereIs(ADMIN, refTo(id))).namespace).toBe("a");
    }
    await move(two.first, id, "b");
    expect((await two.first.runs.whereIs(ADMIN, refTo(id))).namespace).toBe("b");
    const placeThere = async () => (await two.second.runs.whereIs(ADMIN, refTo(id))).namespace;
    await expect.poll(placeThere, SOON).toBe("b");
    expect((await two.second.runs.whereIs(as(ada, "read"), refTo(id))).namespace).toBe("b");
  });

  it("U15 a core that has not seen the move yet checks an envelope against the namespace of the run", async () => {
    for (const name of ["ada", "ben"]) await two.first.user(name);
    await two.first.bind("ada", "writer", on("a"));
    await two.first.bind("ben", "writer", on("b"));
    const [ada, ben] = [await two.atSecond("ada"), await two.atSecond("ben")];
    const id = await makeRun(two.first, "a");
    await writeNumbered(two.second, ada, id, 1);
    await two.second.follower.catchUp();
    // From here on it is not notified of anything.
    two.second.follower.stop();
    await move(two.first, id, "b");
    expect((await two.second.runs.whereIs(ADMIN, refTo(id))).namespace).toBe("a");
    await expect(writeNumbered(two.second, ada, id, 2)).rejects.toEqual(refused("not-found"));
    await move(two.first, id, "a/c");
    expect(await writeNumbered(two.second, ada, id, 2)).toMatchObject({ seq: 2, duplicate: false });
    await move(two.first, id, "b");
    expect(await writeNumbered(two.second, ben, id, 3)).toMatchObject({ seq: 3, duplicate: false });
    await expect(writeNumbered(two.second, ada, id, 1)).rejects.toEqual(refused("not-found"));
    expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2, 3]);
  });

  it("A51 a closed run stays closed at a core that has not seen the move yet", async () => {
    await two.first.user("ada");
    await two.first.bind("ada", "viewer", on("open"));
    const id = await makeRun(two.first, "secret");
    await two.first.close(on("", id));
    await two.first.close(on("", await makeRun(two.first, "secret"), "model"));
    await two.second.follower.catchUp();
    const ada = await two.atSecond("ada");
    await two.second.follower.catchUp();
    two.second.follower.stop();
    const namesSeen = async () => (await two.second.runs.search(as(ada, "read"), SEARCH)).totalCount;
    expect(await namesSeen()).toBe(0);
    await move(two.first, id, "open");
    expect(await namesSeen()).toBe(0);
    await expect(two.second.runs.get(as(ada, "read"), refTo(id))).rejects.toEqual(refused("not-found"));
    await expect(two.second.runs.whereIs(as(ada, "read"), refTo(id))).rejects.toEqual(refused("not-found"));
  });

  it("A51 a lineage shows no place that a run was moved to out of sight, at a core that does not know of it yet", async () => {
    await two.first.user("ada");
    await two.first.bind("ada", "viewer", on("open"));
    const ada = as(await two.atSecond("ada"), "read");
    const [id, child] = [await makeRun(two.first, "open"), await makeRun(two.first, "open")];
    await two.first.core.lineage.addSource(ADMIN, refTo(child), { by: "id", id, artifact: "" });
    const lineageOf = async (run: string) => {
      const { nodes } = await two.second.core.lineage.get(ada, {
        run: refTo(run),
        direction: "sources",
        depth: 1,
      });
      return nodes.map((node) => (node.kind === "run" ? node.namespace : node.kind));
    };
    expect([await lineageOf(id), await lineageOf(child)]).toEqual([["open"], ["open", "open"]]);
    two.second.follower.stop();
    await move(two.first, id, "secret");
    await expect(lineageOf(id)).rejects.toEqual(refused("not-found"));
    expect(await lineageOf(child)).toEqual(["open", "hidden"]);
  });

  it("A51 M14 a closed artifact is not counted at a core that does not know of the move yet", async () => {
    await two.first.user("ada");
    await two.first.bind("ada", "viewer", on("open"));
    const id = await makeRun(two.first, "secret");
    for (const name of ["seen.pt", "shut.pt"]) {
      await bench.under.artifacts.putArtifact(id, reference({ name, kind: "model" }), NOW_US);
    }
    await two.first.close(on("", id, "shut.pt"));
    const ada = await two.atSecond("ada");
    await two.second.follower.catchUp();
    two.second.follower.stop();
    const found = async () => {
      const { models, totalCount } = await two.second.models.search(as(ada, "read"), MODELS);
      return [models.map(({ artifact }) => artifact.name), totalCount];
    };
    expect(await found()).toEqual([[], 0]);
    await move(two.first, id, "open");
    expect(await found()).toEqual([["seen.pt"], 1]);
  });

  it("A51 a binding on a run applies where the run is now, also for a token that is limited to namespaces", async () => {
    await two.first.user("ada");
    const [id, other] = [await makeRun(two.first, "b"), await makeRun(two.first, "b")];
    for (const one of [id, other]) await two.first.bind("ada", "viewer", on("", one));
    const ada = await two.second.access.identify(
      (await two.first.token("ada", { namespaces: ["b"] })).secret,
    );
    const countSeen = async () => (await two.second.runs.search(as(ada, "read"), SEARCH)).totalCount;
    expect(await countSeen()).toBe(2);
    await move(two.first, id, "a");
    await expect.poll(countSeen, SOON).toBe(1);
    await move(two.first, id, "b");
    await expect.poll(countSeen, SOON).toBe(2);
  });

  it("A52 a caller who loses the right at one core while another moves the run does not move it", async () => {
    await two.first.user("ada");
    for (const place of ["a", "b"]) await two.first.bind("ada", "maintainer", on(place));
    const id = await makeRun(two.first, "a");
    const runs = withMethod(bench.runs, "moveRun", async (...args) => {
      await two.first.access.unbindRole(ADMIN, { principal: "ada", scope: on("b") });
      return bench.runs.moveRun(...args);
    });
    const third = await openAccess({ ...bench.under, runs });
    const ada = await third.access.identify((await two.first.token("ada")).secret);
    await expect(third.core.runMoves.move(as(ada, "maintain"), refTo(id), "b")).rejects.toEqual(
      refused("forbidden", "NO_RIGHT"),
    );
    expect((await two.first.runs.get(ADMIN, refTo(id))).namespace).toBe("a");
    third.follower.stop();
  });

  it("A52 bindings and closures that change while the run moves apply where it is", async () => {
    for (const name of ["u1", "u2"]) await two.first.user(name);
    const id = await makeRun(two.first, "a");
    const step = fc.record({
      core: fc.constantFrom(0, 1),
      act: fc.oneof(
        fc.constantFrom(...PATHS).map((to) => ["move", to] as const),
        fc.constantFrom(...NAMES).map((name) => ["bind", name] as const),
        fc.constantFrom(...NAMES).map((name) => ["unbind", name] as const),
        fc.constantFrom("close", "open").map((what) => [what, ""] as const),
      ),
    });
    // No two concurrent changes contradict each other.
    const subject = ({ act: [what, name] }: { act: readonly [string, string] }) =>
      what === "move" ? `to ${name}` : name;
    const atOnce = fc.uniqueArray(step, { minLength: 1, maxLength: 4, selector: subject });
    const bound = new Set<string>();
    let closed = false;
    await fc.assert(
      fc.asyncProperty(fc.array(atOnce, { minLength: 1, maxLength: 4 }), async (schedule) => {
        for (const steps of schedule) {
          const outcomes = await Promise.all(
            steps.map(async ({ core, act: [what, name] }) => {
              const at = core === 0 ? two.first : two.second;
              const scope = on("", id);
              const done =
                what === "move"
                  ? move(at, id, name)
                  : what === "bind"
                    ? at.access.bindRole(ADMIN, { principal: name, role: "viewer", scope })
                    : what === "unbind"
                      ? at.access.unbindRole(ADMIN, { principal: name, scope })
                      : at.access.setClosed(ADMIN, { scope, closed: what === "close" });
              return done.then(
                () => "done",
                (thrown) => CairnError.from(thrown).code,
              );
            }),
          );
          const expected = steps.map(({ act: [what, name] }) =>
            what === "unbind" && !bound.has(name) ? "not-found" : "done",
          );
          expect(outcomes).toEqual(expected);
          for (const { act } of steps) {
            const [what, name] = act;
            if (what === "bind") bound.add(name);
            if (what === "unbind") bound.delete(name);
            if (what === "close" || what === "open") closed = what === "close";
          }
          const { namespace } = await two.first.runs.get(ADMIN, refTo(id));
          const content = await bench.under.access.loadAccess();
          const place = { namespace, runId: id };
          expect(content.bindings.map(({ principal }) => principal).toSorted()).toEqual(
            [...bound].toSorted(),
          );
          for (const { scope } of content.bindings) expect(scope).toEqual(place);
          expect(content.closed).toEqual(closed ? [place] : []);
        }
        for (const { access, follower } of [two.first, two.second]) {
          await follower.catchUp();
          const shown = await access.getScope(ADMIN, on("", id));
          expect(shown.bindings.map(({ principal }) => principal)).toEqual([...bound].toSorted());
          expect(shown.closed).toBe(closed);
        }
      }),
      { numRuns: 25 },
    );
    expect(await bench.under.access.verifyAudit()).toMatchObject({ problems: [] });
  });

  it("A52 concurrent moves by both are applied one after the other, each with its audit entry", async () => {
    const id = await makeRun(two.first, "a");
    await Promise.all(
      ["b", "c", "d", "e"].map((to, i) => move(i % 2 === 0 ? two.first : two.second, id, to)),
    );
    const everything = { principal: "", action: "move-run", target: id, pageSize: 0, pageToken: "" };
    const { entries } = await two.first.access.listAudit(ADMIN, everything);
    const facts = entries.reverse().map((entry) => [entry.facts["from"], entry.facts["to"]]);
    expect(facts).toHaveLength(4);
    for (const [i, [from]] of facts.entries()) expect(from).toBe(i === 0 ? "a" : facts[i - 1]![1]);
    expect((await two.first.runs.get(ADMIN, refTo(id))).namespace).toBe(facts.at(-1)![1]);
  });

  it("A17 A52 a purge and a move at once leave nothing of the run behind", async () => {
    for (const name of ["ada", "ben"]) await two.first.user(name);
    for (let round = 0; round < 10; round++) {
      const id = await makeRun(two.first, "a");
      await two.first.close(on("", id));
      await two.first.bind("ada", "viewer", on("", id));
      await two.first.runs.delete(ADMIN, refTo(id));
      const ends = [
        () => move(two.second, id, "b").catch((thrown) => CairnError.from(thrown).code),
        () => two.first.runs.purge(ADMIN, refTo(id)),
        () => two.second.access.setClosed(ADMIN, { scope: on("", id), closed: false }).catch(() => undefined),
        () => two.second.bind("ben", "viewer", on("", id)).catch(() => undefined),
      ];
      if (round % 2 === 1) ends.reverse();
      const [moved] = await Promise.all(ends.map((end) => end()));
      if (round % 2 === 0) expect([{ id, from: "a", to: "b" }, "not-found"]).toContainEqual(moved);
      await expect(two.first.runs.get(ADMIN, refTo(id))).rejects.toEqual(refused("not-found"));
      const { bindings, closed } = await bench.under.access.loadAccess();
      expect([bindings, closed]).toEqual([[], []]);
    }
  });

  it("U27 a running upload is attached by the rules of the new place", async () => {
    for (const name of ["ada", "ben"]) await two.first.user(name);
    for (const name of ["ada", "ben"]) await two.first.bind(name, "writer", on("a"));
    await two.first.bind("ben", "writer", on("b"));
    const [ada, ben] = [await two.atSecond("ada"), await two.atSecond("ben")];
    const id = await makeRun(two.first, "a");
    two.second.follower.stop();
    const [begun, moved] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    async function* content() {
      yield Buffer.from("one ");
      begun.resolve();
      await moved.promise;
      yield Buffer.from("two");
    }
    const put = (identity: Identity, name: string) => {
      const head = {
        name,
        step: undefined,
        kind: "file",
        mediaType: "",
        metadata: new Map<string, string>(),
      } as const;
      return two.second.core.artifacts.uploads.put(as(identity, "write"), refTo(id), head, content());
    };
    const [shutOut, attached] = [put(ada, "ada"), put(ben, "ben")];
    const refusal = expect(shutOut).rejects.toEqual(refused("not-found"));
    await begun.promise;
    await move(two.first, id, "b");
    moved.resolve();
    await refusal;
    expect(await attached).toMatchObject({ name: "ben", sizeBytes: 7 });
    expect(await bench.under.artifacts.findArtifact(id, "ada", undefined)).toBeUndefined();
  });
}
