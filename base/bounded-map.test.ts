import fc from "fast-check";
import { expect, it } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

const key = fc.nat(12);
const step = fc.oneof(
  fc.record({ do: fc.constant("set" as const), key, value: fc.option(fc.nat(), { nil: undefined }) }),
  fc.record({ do: fc.constant("get" as const), key }),
  fc.record({ do: fc.constant("delete" as const), key }),
  fc.record({ do: fc.constant("clear" as const) }),
);

it("holds the latest entries after any reads, deletes and sets", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 100 }), (max, steps) => {
      let model: [number, number | undefined][] = [];
      const evictedByModel: number[] = [];
      const evicted: number[] = [];
      const map = new BoundedMap<number, number | undefined>(max, (oldest) => evicted.push(oldest));
      for (const each of steps) {
        if (each.do === "get") {
          expect(map.get(each.key)).toBe(model.find(([known]) => known === each.key)?.[1]);
          continue;
        }
        if (each.do === "clear") {
          map.clear();
          model = [];
          continue;
        }
        model = model.filter(([known]) => known !== each.key);
        if (each.do === "delete") map.delete(each.key);
        else {
          map.set(each.key, each.value);
          model.push([each.key, each.value]);
          if (model.length > max) evictedByModel.push(model.shift()![0]);
        }
        expect([...map]).toEqual(model);
      }
      expect(evicted).toEqual(evictedByModel);
    }),
  );
});
