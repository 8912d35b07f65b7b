import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quantileGroups, ranksOf } from "#base/ranks.ts";
import { chanceOfGroups, chanceOfRank, cramersV, groupEffect, spearman } from "./association.ts";

const small = fc.integer({ min: -9, max: 9 });
const f = (values: readonly number[]) => Float64Array.from(values);

describe("association", () => {
  it("M3 ranks are shared by equal values, add up, and follow the order", () => {
    fc.assert(
      fc.property(fc.array(small), (values) => {
        const ranks = ranksOf(f(values));
        const n = values.length;
        expect(ranks.reduce((sum, each) => sum + each, 0)).toBeCloseTo((n * (n + 1)) / 2);
        for (let i = 1; i < n; i++)
          expect(Math.sign(ranks[i]! - ranks[i - 1]!)).toBe(Math.sign(values[i]! - values[i - 1]!));
      }),
    );
    expect([...ranksOf(f([10, 20, 20, 5]))]).toEqual([2, 3.5, 3.5, 1]);
  });

  it("M3 rank correlation is within -1 and 1, the same both ways and on any rising scale, and 1 with itself", () => {
    const pairs = fc.array(fc.tuple(small, small), { minLength: 3 });
    fc.assert(
      fc.property(pairs, (rows) => {
        const a = f(rows.map(([each]) => each));
        const b = f(rows.map(([, each]) => each));
        const rho = spearman(a, b);
        if (new Set(a).size < 2 || new Set(b).size < 2) {
          expect(rho).toBeNaN();
          return;
        }
        expect(Math.abs(rho)).toBeLessThanOrEqual(1);
        expect(spearman(b, a)).toBeCloseTo(rho, 10);
        expect(spearman(a.map(Math.exp), b)).toBeCloseTo(rho, 10);
        expect(
          spearman(
            a.map((each) => -each),
            b,
          ),
        ).toBeCloseTo(-rho, 10);
        expect(spearman(a, a)).toBeCloseTo(1, 10);
      }),
    );
    // By the formula for ranks without ties: 1 - 6 Σd² / n(n² - 1).
    expect(spearman(f([1, 2, 3, 4, 5]), f([2, 1, 4, 3, 5]))).toBeCloseTo(1 - (6 * 4) / 120, 10);
  });

  it("M3 the share between groups is 1 for groups that explain everything, and corrected it is 0 for noise", () => {
    const effect = groupEffect([0, 0, 1, 1], ranksOf(f([1, 1, 5, 5])))!;
    expect(effect.etaSquared).toBeCloseTo(1, 10);
    expect(effect.epsilonSquared).toBeCloseTo(1, 10);
    // By hand: ranks 1..6, means 2.5, 3.5, 4.5; between 2·(1+0+1) = 4 of 17.5 in all, within 13.5 / 3 = 4.5.
    const mild = groupEffect([0, 1, 2, 0, 1, 2], ranksOf(f([1, 2, 3, 4, 5, 6])))!;
    expect(mild.etaSquared).toBeCloseTo(4 / 17.5, 10);
    expect(mild.epsilonSquared).toBeCloseTo((4 - 2 * 4.5) / 17.5, 10);
    expect(groupEffect([0, 0, 0], ranksOf(f([1, 2, 3])))).toBeUndefined();
    expect(groupEffect([0, 1, 2], ranksOf(f([1, 2, 3])))).toBeUndefined();
    expect(groupEffect([0, 0, 1], ranksOf(f([1, 1, 1])))).toBeUndefined();
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), small), { minLength: 4 }), (rows) => {
        const found = groupEffect(
          rows.map(([g]) => g),
          ranksOf(f(rows.map(([, v]) => v))),
        );
        if (found === undefined) return;
        expect(found.etaSquared).toBeGreaterThanOrEqual(0);
        expect(found.etaSquared).toBeLessThanOrEqual(1);
        expect(found.epsilonSquared).toBeLessThanOrEqual(found.etaSquared + 1e-12);
      }),
    );
  });

  it("M3 noise stays below the bound for chance about 19 times of 20", () => {
    let seed = 42;
    const random = () => ((seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0), seed / 2 ** 32);
    const [n, rounds] = [80, 400];
    let beyondRank = 0;
    let beyondGroups = 0;
    let sum = 0;
    for (let round = 0; round < rounds; round++) {
      const a = Float64Array.from({ length: n }, random);
      const b = Float64Array.from({ length: n }, random);
      if (Math.abs(spearman(a, b)) > chanceOfRank(n)) beyondRank++;
      const effect = groupEffect(
        Array.from({ length: n }, () => Math.floor(random() * 4)),
        ranksOf(b),
      );
      if (effect!.etaSquared > chanceOfGroups(n, 4)) beyondGroups++;
      sum += effect!.epsilonSquared;
    }
    expect(beyondRank / rounds).toBeGreaterThan(0.02);
    expect(beyondRank / rounds).toBeLessThan(0.09);
    expect(beyondGroups / rounds).toBeGreaterThan(0.02);
    expect(beyondGroups / rounds).toBeLessThan(0.09);
    expect(Math.abs(sum / rounds)).toBeLessThan(0.01);
  });

  it("M3 quantile groups are even, and equal values are never separated", () => {
    fc.assert(
      fc.property(fc.array(small, { minLength: 1 }), fc.integer({ min: 2, max: 6 }), (values, count) => {
        const groups = quantileGroups(ranksOf(f(values)), count);
        for (const [i, a] of values.entries())
          for (const [j, b] of values.entries()) {
            if (a === b) expect(groups[i]).toBe(groups[j]);
            if (a < b) expect(groups[i]).toBeLessThanOrEqual(groups[j]!);
          }
      }),
    );
    expect([...quantileGroups(ranksOf(f([1, 2, 3, 4])), 2)]).toEqual([0, 0, 1, 1]);
  });

  it("M3 Cramér's V is 1 for values that determine each other, about 0 for independent ones, and the same both ways", () => {
    const a = Array.from({ length: 40 }, (_, i) => i % 4);
    expect(
      cramersV(
        a,
        a.map((each) => (each + 1) % 4),
      ),
    ).toBeCloseTo(1, 10);
    expect(
      cramersV(
        a,
        Array.from({ length: 40 }, (_, i) => Math.floor(i / 4) % 2),
      ),
    ).toBeLessThan(0.2);
    expect(
      cramersV(
        a,
        a.map(() => 1),
      ),
    ).toBeNaN();
    const pairs = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 })), {
      minLength: 2,
    });
    fc.assert(
      fc.property(pairs, (rows) => {
        const [x, y] = [rows.map(([each]) => each), rows.map(([, each]) => each)];
        const v = cramersV(x, y);
        if (Number.isNaN(v)) return;
        expect(v).toBeGreaterThanOrEqual(0);
        expect(v).toBeLessThanOrEqual(1);
        // By their squares: near 0 a root makes much of the last digit.
        expect(cramersV(y, x) ** 2).toBeCloseTo(v ** 2, 10);
      }),
    );
  });
});
