import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { NOW_US, refused } from "../contract/stores.ts";
import { openSqlite } from "./open.ts";
import { openOnDisk } from "./testing/under-test.ts";
import { connectThread, startThread, type StartThread } from "./thread.ts";

it("D13 one that ends before it has opened its connection is reported", async () => {
  const ended = refused("unavailable", "STORAGE_ENDED");
  for (const code of ["", "process.exit(0)", "throw new Error('no')"]) {
    const worker = new Worker(code, { eval: true });
    await expect(
      connectThread(worker, () => Promise.resolve()),
      code,
    ).rejects.toEqual(ended);
  }
  const { port1, port2 } = new MessageChannel();
  port2.close();
  await expect(connectThread(port1, () => Promise.resolve())).rejects.toEqual(ended);
});

it("D9 a reader ends with the writer that cannot open the store, for the same reason", async () => {
  const { engine, data: directory, directory: whole } = await openOnDisk();
  onTestFinished(() => rm(whole, { recursive: true }));
  await engine.close();
  const file = join(directory, "cairn.db");
  await writeFile(file, "not a database at all ".repeat(500));
  const started: Promise<unknown>[] = [];
  const start: StartThread = (asked, turn) => {
    const thread = startThread<never>(asked, turn);
    started.push(thread);
    return thread;
  };
  const options = { directory, startThread: start, nowUs: () => NOW_US };
  await expect(openSqlite(options)).rejects.toEqual(refused("corrupt"));
  // Once its thread has ended.
  for (const thread of started) await expect(thread).rejects.toEqual(refused("corrupt"));
  expect(started).toHaveLength(2);
  // And the directory is free again.
  await rm(file);
  const store = await openSqlite(options);
  await store.close();
});
