import { rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { serveCalls, Transferred, type Handlers } from "#base/worker-call.ts";
import { CairnError, toPlainError } from "#core/errors.ts";
import type { ReadSeriesResult } from "#core/ports/point-store.ts";
import { Db } from "./db.ts";
import { checkCopy, replaceFile, stageCopy } from "./restore.ts";
import { findSetting, initSetting } from "./settings.ts";
import { StoreReader } from "./store-reader.ts";
import type { ReaderApi, WorkerStart, WriterApi } from "./worker-api.ts";
import { StoreWriter } from "./writer.ts";

const { role, file, feed } = workerData as WorkerStart & { feed: MessagePort | undefined };

function writerHandlers(opened: StoreWriter): Handlers<WriterApi> {
  let writer = opened;
  return {
    createNamespace: (namespace) => writer.change((namespaces) => namespaces.create(namespace)),
    updateNamespace: (path, change) => writer.change((namespaces) => namespaces.update(path, change)),
    deleteNamespace: (path) => writer.change((namespaces) => namespaces.delete(path)),
    describeKey: (description, nowUs) =>
      writer.change((namespaces) => namespaces.describeKey(description, nowUs)),
    initSetting: (name, value) => writer.change((_, db) => initSetting(db, name, value)),
    createRun: async (run, { getOrCreate }) => {
      const { stored, created } = await writer.changeRun((runs) => runs.create(run, getOrCreate));
      return { run: stored.run, created };
    },
    updateRun: async (id, change, nowUs) => {
      const { stored } = await writer.changeRun((runs) => ({
        stored: runs.update(runs.getKey(id), change, nowUs),
      }));
      return stored.run;
    },
    setDeleted: async (id, deletedUs) => {
      const { stored } = await writer.changeRun((runs) => ({
        stored: runs.setDeleted(runs.getKey(id), deletedUs),
      }));
      return stored.run;
    },
    purgeRun: (id) => writer.purgeRun(id),
    expireHeartbeats: (nowUs) => writer.expireHeartbeats(nowUs),
    append: async (envelopes) => {
      const outcomes = await writer.append(envelopes);
      return outcomes.map((outcome) => (outcome instanceof CairnError ? toPlainError(outcome) : outcome));
    },
    publish: () => writer.publish(),
    settle: () => writer.settle(),
    restore: (copy, keepAside) => {
      checkCopy(copy);
      const staged = stageCopy(file, copy);
      try {
        if (keepAside !== undefined) writer.backup(keepAside);
        writer.close();
        replaceFile(file, staged);
      } finally {
        rmSync(staged, { force: true });
        if (writer.closed) writer = new StoreWriter(file, feed!, writer.feedPosition);
      }
    },
    close: async () => {
      writer.close();
      // Answers to what was accepted go out first.
      await setImmediate();
      feed?.close();
    },
  };
}

function readerHandlers(reader: StoreReader): Handlers<ReaderApi> {
  return {
    findNamespace: (path) => reader.namespaces.find(path),
    listNamespaces: (page) => reader.namespaces.list(page),
    listKeys: (namespace) => reader.namespaces.listKeys(namespace),
    findRuns: (ref) => reader.runs.find(ref),
    getRuns: (ids, omit) => reader.runs.getMany(ids, omit ?? []),
    getSetting: (name) => findSetting(reader.db, name),
    verifyRun: (id) => reader.verifyRun(id),
    info: () => reader.info(),
    checkIntegrity: () => reader.checkIntegrity(),
    backup: (target) => reader.backup(target),
    listSeries: (request) => reader.series.list(request),
    finish: () => undefined,
    readSeries: (request) => {
      const result = reader.series.read(request);
      return new Transferred(result, buffersOf(result));
    },
  };
}

/** The buffers that are this result's alone: each one whole and not shared with a cached chunk. */
function buffersOf(result: ReadSeriesResult): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const add = (column: unknown) => {
    if (!ArrayBuffer.isView(column)) return;
    if (column.buffer instanceof ArrayBuffer && column.byteLength === column.buffer.byteLength) {
      buffers.add(column.buffer);
    }
  };
  for (const { data } of result.series) {
    if (data.form === "envelope") Object.values(data).forEach(add);
    else [data.replaced, ...Object.values(data.points), data.points.values.data].forEach(add);
  }
  return [...buffers];
}

const port = parentPort!;
try {
  if (role === "reader") {
    const reader = new StoreReader(file, Db.open(file, { readOnly: true }));
    serveCalls<ReaderApi>(port, readerHandlers(reader), toPlainError);
  } else {
    const writer = new StoreWriter(file, feed!);
    const handlers = writerHandlers(writer);
    if (role === "writer") serveCalls<WriterApi>(port, handlers, toPlainError);
    else {
      const both = { ...handlers, ...readerHandlers(writer.reader()) };
      serveCalls<WriterApi & ReaderApi>(port, both, toPlainError);
    }
  }
  port.postMessage("ready");
} catch (thrown) {
  port.postMessage(toPlainError(thrown));
}
