import type { Leases } from "#core/ports/leases.ts";
import type { Db } from "./file/db.ts";

/**
 * `change` runs its work as a whole or not at all. Not urgent: chores wait while the disk is full, for the room that is kept would be
 * given up every few seconds. What a call deletes is destroyed by that call.
 */
export function leaseWrites(change: <T>(work: (db: Db) => T) => Promise<T>): Leases {
  return {
    acquireLease: (name, holder, nowUs, untilUs) =>
      change((db) => {
        const { changes } = db.run(
          `INSERT INTO lease (name, holder, until_us) VALUES (?1, ?2, ?4)
           ON CONFLICT (name) DO UPDATE SET holder = ?2, until_us = ?4 WHERE holder = ?2 OR until_us <= ?3`,
          name,
          holder,
          nowUs,
          untilUs,
        );
        const [end] = db.find("SELECT until_us FROM lease WHERE name = ?", name)!;
        return { acquired: changes > 0, untilUs: Number(end) };
      }),
    renewLease: (name, holder, untilUs) =>
      change((db) => {
        const sql = "UPDATE lease SET until_us = ? WHERE name = ? AND holder = ?";
        return db.run(sql, untilUs, name, holder).changes > 0;
      }),
  };
}
