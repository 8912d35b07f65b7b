import type { Leases } from "#core/ports/leases.ts";
import type { Db } from "./file/db.ts";

/** `changeHeld` as of StoreWriter. */
export function leaseWrites(changeHeld: <T>(work: (db: Db) => T) => Promise<T>): Leases {
  return {
    acquireLease: (name, holder, nowUs, untilUs) =>
      changeHeld((db) => {
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
      changeHeld((db) => {
        const sql = "UPDATE lease SET until_us = ? WHERE name = ? AND holder = ?";
        return db.run(sql, untilUs, name, holder).changes > 0;
      }),
  };
}
