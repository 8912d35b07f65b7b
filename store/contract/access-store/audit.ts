import { expect, it } from "vitest";
import { chainHash, CHAIN_START } from "#core/access/audit/audit-chain.ts";
import type { AuditRecord, ListAudit } from "#core/ports/access-store.ts";
import { AUDIT, inEveryForm, NOW_US, useStores, type OpenStores } from "../stores.ts";

const ALL: ListAudit = {
  principal: undefined,
  action: undefined,
  target: undefined,
  before: undefined,
  limit: 100,
};

export function accessAuditContract(open: OpenStores): void {
  const bench = useStores(open);

  it("A16 chains its entries, newest first in the list, and finds them whole", async () => {
    const records = Array.from({ length: 5 }, (_, i): AuditRecord => ({
      principal: i % 2 === 0 ? "ada" : "ben",
      action: "bind-role",
      target: `a/ü"${i}`,
      ...(i > 1 && { token: `t${i}`, address: "::1" }),
      facts: { zeta: "\u{1f600}\n", "\u{fffd}": '"', 10: "ten", 9: "nine", __proto__x: "" },
      timeUs: NOW_US + i,
    }));
    for (const record of records) await bench.under.access.changeAccess([], [record]);
    const hashes: string[] = [];
    for (const record of records) {
      hashes.push(chainHash(hashes.at(-1) ?? CHAIN_START, hashes.length + 1, record));
    }
    await inEveryForm(bench, async () => {
      const entries = (await bench.under.access.listAudit(ALL)).reverse();
      expect(entries).toMatchObject(records);
      expect(entries.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
      expect(entries.map(({ hash }) => hash)).toEqual(hashes);
      expect(await bench.under.access.verifyAudit()).toEqual({ entries: 5, problems: [] });
    });
  });

  it("A16 lists by principal, action and target, page by page", async () => {
    const { access } = bench.under;
    for (let i = 1; i <= 12; i++) {
      const record = {
        ...AUDIT,
        principal: i % 2 === 0 ? "ada" : "ben",
        action: i % 3 === 0 ? "purge-run" : "log-in",
        target: String(i % 4),
      };
      await access.changeAccess([], [record]);
    }
    const numbers = async (request: Partial<ListAudit>) =>
      (await access.listAudit({ ...ALL, ...request })).map(({ number }) => number);
    expect(await numbers({ principal: "ada" })).toEqual([12, 10, 8, 6, 4, 2]);
    expect(await numbers({ action: "purge-run" })).toEqual([12, 9, 6, 3]);
    expect(await numbers({ target: "0" })).toEqual([12, 8, 4]);
    expect(await numbers({ principal: "ada", action: "purge-run", target: "0" })).toEqual([12]);
    expect(await numbers({ principal: "nobody" })).toEqual([]);
    expect(await numbers({ before: 11, limit: 2 })).toEqual([10, 9]);
    expect(await numbers({ principal: "ben", before: 5, limit: 1 })).toEqual([3]);
    expect(await numbers({ before: 1 })).toEqual([]);
    expect(await numbers({ after: 9 })).toEqual([10, 11, 12]);
    expect(await numbers({ after: 0, limit: 2 })).toEqual([1, 2]);
    expect(await numbers({ after: 2, principal: "ada", limit: 2 })).toEqual([4, 6]);
    const [newest] = await access.listAudit({ ...ALL, limit: 1 });
    expect(await access.getAuditHead()).toEqual({ count: 12, hash: newest!.hash });
  });

  it("A16 stays one chain with many concurrent changes", async () => {
    const { access } = bench.under;
    await Promise.all(Array.from({ length: 40 }, () => access.changeAccess([], [AUDIT, AUDIT])));
    expect(await access.verifyAudit()).toEqual({ entries: 80, problems: [] });
    expect(new Set((await access.listAudit(ALL)).map(({ hash }) => hash)).size).toBe(80);
  });
}
