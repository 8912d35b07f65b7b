import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MLflowRest } from "./mlflow-rest.ts";
import type { MLflowPair, MLflowRun } from "./mlflow-types.ts";
import { NamedRuns } from "./named-runs.ts";

const NAMES = 30;
const DELAY_MS_MAX = 30;
const CLAIM = { key: "torchx.claim", value: "x" };

interface RequestBody {
  filter?: string;
  run_id?: string;
  run_name?: string;
  tags?: MLflowPair[];
  key?: string;
}

/**
 * As much of MLflow as naming runs needs, with calls that can be blocked: the moments that matter are too rare with a
 * real one. That the real one behaves so is tested in e2e/trackers. A rank is known by the path of its address.
 */
class HeldMLflow {
  readonly runs = new Map<string, MLflowRun>();
  /** "rank path" of every call that was done, in order. */
  readonly done: string[] = [];
  /** Before a call is done. */
  before: (call: string) => Promise<void> = async () => {};
  /** Done, but its connection breaks; once. */
  losesAnswerOf: string | undefined;
  nextId: (rank: string) => string = () => crypto.randomUUID().replaceAll("-", "");
  #server: Server | undefined;
  #url = "";

  async start(): Promise<void> {
    this.#server = createServer((request, response) => {
      void (async () => {
        const text = (await Array.fromAsync(request as AsyncIterable<Buffer>)).join("");
        const [, rank, path] = /^\/(\w+)\/api\/2\.0\/mlflow\/(.*)$/.exec(request.url!)!;
        await this.before(`${rank} ${path}`);
        const [status, answer] = this.#answer(rank!, path!, JSON.parse(text) as RequestBody);
        this.done.push(`${rank} ${path}`);
        if (this.losesAnswerOf === `${rank} ${path}`) {
          this.losesAnswerOf = undefined;
          request.socket.destroy();
          return;
        }
        response.writeHead(status).end(JSON.stringify(answer));
      })();
    }).listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  rank(name: string): NamedRuns {
    return new NamedRuns(new MLflowRest(`${this.#url}/${name}`, { env: {} }), { id: "1", name: "e" }, "me");
  }

  add(id: string, name: string, tags: MLflowPair[] = []): void {
    const info = { run_id: id, run_name: name, start_time: Date.now() };
    this.runs.set(id, { info, data: { tags } } as unknown as MLflowRun);
  }

  named(name: string): MLflowRun[] {
    return [...this.runs.values()].filter(({ info }) => info.run_name === name);
  }

  #answer(rank: string, path: string, body: RequestBody): [number, object] {
    switch (path) {
      case "runs/search":
        return [200, { runs: this.named(/'(.*)'/.exec(body.filter!)![1]!) }];
      case "runs/create": {
        const id = this.nextId(rank);
        this.add(id, body.run_name!, body.tags);
        return [200, { run: this.runs.get(id)! }];
      }
      case "runs/delete":
        this.runs.delete(body.run_id!);
        return [200, {}];
      case "runs/delete-tag": {
        const data = this.runs.get(body.run_id!)?.data;
        const kept = data?.tags?.filter(({ key }) => key !== body.key);
        if (data === undefined || kept?.length === data.tags?.length) {
          return [404, { error_code: "RESOURCE_DOES_NOT_EXIST", message: "" }];
        }
        data.tags = kept!;
        return [200, {}];
      }
      default:
        return [404, {}];
    }
  }
}

/** Blocks calls until they are released. */
class Gates {
  readonly #closed = new Map<string, PromiseWithResolvers<void>>();

  close(call: string): void {
    this.#closed.set(call, Promise.withResolvers());
  }

  open(call: string): void {
    this.#closed.get(call)?.resolve();
    this.#closed.delete(call);
  }

  pass = async (call: string): Promise<void> => this.#closed.get(call)?.promise;
}

let mlflow: HeldMLflow;
beforeEach(async () => {
  mlflow = new HeldMLflow();
  await mlflow.start();
});
afterEach(() => mlflow.stop());

const idOf = ({ info }: MLflowRun) => info.run_id;
const countOf = (call: string) => mlflow.done.filter((done) => done === call).length;

describe("runs by name", () => {
  it("X28 a claim that was made before the second look is waited for, and the smaller id wins", async () => {
    const gates = new Gates();
    mlflow.before = gates.pass;
    mlflow.nextId = (rank) => (rank === "large" ? "f" : "0").repeat(32);
    for (const call of ["large runs/delete-tag", "small runs/delete-tag", "small runs/create"])
      gates.close(call);
    const small = mlflow.rank("small").getOrCreate("job");
    await expect.poll(() => countOf("small runs/search")).toBe(1);
    const large = mlflow.rank("large").getOrCreate("job");
    // It has looked and is about to settle.
    await expect.poll(() => countOf("large runs/search")).toBe(2);
    gates.open("small runs/create");
    await expect.poll(() => countOf("small runs/search")).toBe(2);
    gates.open("large runs/delete-tag");
    // Its second look shows the smaller claim, so it looks once more.
    await expect.poll(() => countOf("large runs/search")).toBeGreaterThanOrEqual(4);
    gates.close("large runs/search");
    gates.open("small runs/delete-tag");
    expect(idOf(await small)).toBe("0".repeat(32));
    gates.open("large runs/search");
    expect(idOf(await large)).toBe("0".repeat(32));
    expect(mlflow.named("job").map(idOf)).toEqual(["0".repeat(32)]);
  });

  it("X28 a reader waits until a contested run is settled", async () => {
    mlflow.add("f".repeat(32), "job");
    mlflow.add("0".repeat(32), "job", [CLAIM]);
    const found = mlflow.rank("reader").find("job");
    await expect.poll(() => countOf("reader runs/search")).toBeGreaterThanOrEqual(2);
    mlflow.runs.delete("f".repeat(32));
    mlflow.add("0".repeat(32), "job");
    expect(idOf((await found)!)).toBe("0".repeat(32));
  });

  it("X28 two old runs of one name are an error at once; of two young ones, one may give way", async () => {
    mlflow.add("a", "job");
    mlflow.add("b", "job");
    const found = mlflow.rank("reader").find("job");
    await expect.poll(() => countOf("reader runs/search")).toBeGreaterThanOrEqual(2);
    mlflow.runs.delete("b");
    expect(idOf((await found)!)).toBe("a");
    mlflow.add("b", "job");
    for (const { info } of mlflow.runs.values()) info.start_time = Date.now() - 3_600_000;
    await expect(mlflow.rank("late").find("job")).rejects.toThrow('experiment "e" has 2 runs of that name');
    expect(countOf("late runs/search")).toBe(1);
  });

  it("X28 a claim whose answer was lost is found again, not made twice", async () => {
    mlflow.losesAnswerOf = "rank runs/create";
    const run = await mlflow.rank("rank").getOrCreate("job");
    expect(mlflow.named("job").map(idOf)).toEqual([idOf(run)]);
    expect(countOf("rank runs/create")).toBe(1);
  });

  it("X28 ranks agree on one run, in whatever order their calls arrive", async () => {
    mlflow.before = () => sleep(Math.random() < 0.6 ? 0 : Math.random() * DELAY_MS_MAX);
    await Promise.all(
      Array.from({ length: NAMES }, async (_, i) => {
        const name = `job-${i}`;
        const makers = ["r0", "r1", "r2", "r3"].map((rank) => mlflow.rank(rank).getOrCreate(name));
        const seen = await mlflow.rank("reader").find(name);
        const ids = new Set((await Promise.all(makers)).map(idOf));
        const left = mlflow.named(name);
        expect({ ids: ids.size, left: left.map(idOf) }).toEqual({ ids: 1, left: [...ids] });
        expect(left[0]!.data.tags!.map(({ key }) => key)).toEqual(["mlflow.user"]);
        if (seen !== undefined) expect(ids.has(idOf(seen))).toBe(true);
      }),
    );
  }, 60_000);
});
