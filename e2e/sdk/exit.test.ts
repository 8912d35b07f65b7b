import { existsSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { findByName, readNumbers, startJob, useWorld, type Job } from "./job.ts";

const world = useWorld();

/** A job that begins a run of that name and then does what `code` says. */
function job(name: string, code: string): Job {
  const options = `{ server: ${JSON.stringify(world.server.url)}, name: "${name}", spool: ${JSON.stringify(world.spool)}, capture: false }`;
  return startJob(`const run = await cairn.init(${options});\nrun.log({ a: 1 });\n${code}`);
}

async function outcome(name: string) {
  const run = await findByName(world.client, name);
  if (run === undefined) return undefined;
  const { values } = await readNumbers(world.client, run.id, "a");
  return { status: run.status, values, endedUs: run.endedUs, id: run.id };
}

const nothingLeft = () => !existsSync(world.spool) || readdirSync(world.spool).length === 0;

describe("the end of a process", () => {
  it("C16 a job that simply ends has finished its run", async () => {
    expect(await job("ends", "run.log({ a: 2 });").exited).toMatchObject({ code: 0 });
    expect(await outcome("ends")).toMatchObject({ status: RunStatus.FINISHED, values: [1, 2] });
    expect(nothingLeft()).toBe(true);
  });

  it("C16 one that ends with an exit code other than 0 has failed", async () => {
    expect(await job("code", "process.exitCode = 3;").exited).toMatchObject({ code: 3 });
    expect(await outcome("code")).toMatchObject({ status: RunStatus.FAILED, values: [1] });
  });

  it("C16 process.exit() leaves nothing behind", async () => {
    expect(await job("exit", "run.log({ a: 2 }); process.exit(0);").exited).toMatchObject({ code: 0 });
    expect(await outcome("exit")).toMatchObject({ status: RunStatus.FINISHED, values: [1, 2] });
    expect(nothingLeft()).toBe(true);
  });

  it("C16 an uncaught exception makes it failed, and is in its log", async () => {
    const thrower = job(
      "throws",
      'run.log({ a: 2 }); setTimeout(() => { throw new Error("out of luck"); }, 1);',
    );
    expect((await thrower.exited).code).toBe(1);
    expect(thrower.stderr()).toContain("out of luck");
    const found = await outcome("throws");
    expect(found).toMatchObject({ status: RunStatus.FAILED, values: [1, 2] });
    const { lines } = await world.client.logs.readLog({ run: { id: found!.id } });
    expect(lines[0]).toMatchObject({ text: "Error: out of luck", stream: "stderr" });
    expect(lines.length).toBeGreaterThan(1);
  });

  it("C16 an unhandled rejection makes it failed, too", async () => {
    const thrower = job(
      "rejects",
      'void Promise.reject(new Error("no")); await new Promise((r) => setTimeout(r, 60_000));',
    );
    expect((await thrower.exited).code).toBe(1);
    expect(await outcome("rejects")).toMatchObject({ status: RunStatus.FAILED, values: [1] });
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "C16 %s makes it killed, and kills it as it would have",
    async (signal) => {
      const name = `dies-of-${signal}`;
      const victim = job(name, 'run.log({ a: 2 }); console.log("ready"); setInterval(() => {}, 1000);');
      await expect.poll(() => victim.lines).toContain("ready");
      victim.child.kill(signal);
      expect(await victim.exited).toEqual({ code: null, signal });
      expect(await outcome(name)).toMatchObject({ status: RunStatus.KILLED, values: [1, 2] });
      expect(nothingLeft()).toBe(true);
    },
  );

  it("C16 a job that handles the signal itself continues, and decides how it ends", async () => {
    const calm = job(
      "handles",
      `process.on("SIGTERM", async () => { run.log({ a: 3 }); await run.finish("finished"); process.exit(0); });
       run.log({ a: 2 }); console.log("ready"); setInterval(() => {}, 1000);`,
    );
    await expect.poll(() => calm.lines).toContain("ready");
    calm.child.kill("SIGTERM");
    expect(await calm.exited).toEqual({ code: 0, signal: null });
    expect(await outcome("handles")).toMatchObject({ status: RunStatus.FINISHED, values: [1, 2, 3] });
  });

  it("C16 a listener that only ends the process leaves the run killed", async () => {
    const victim = job(
      "quits",
      'process.on("SIGTERM", () => process.exit(143)); console.log("ready"); setInterval(() => {}, 1000);',
    );
    await expect.poll(() => victim.lines).toContain("ready");
    victim.child.kill("SIGTERM");
    expect((await victim.exited).code).toBe(143);
    expect(await outcome("quits")).toMatchObject({ status: RunStatus.KILLED, values: [1] });
  });

  it("C16 an exit while a run is being finished keeps the status that was asked for", async () => {
    const hasty = job("hasty", 'run.log({ a: 2 }); void run.finish("failed"); process.exit(0);');
    expect((await hasty.exited).code).toBe(0);
    expect(await outcome("hasty")).toMatchObject({ status: RunStatus.FAILED, values: [1, 2] });
    expect(nothingLeft()).toBe(true);
  });

  it("C16 without a server the end of a process reports where everything is", async () => {
    const spool = JSON.stringify(`${world.folder}/away`);
    const lonely = startJob(
      `const run = await cairn.init({ server: "127.0.0.1:1", spool: ${spool}, capture: false, openMs: 50 });
       run.log({ a: 1 }); process.exit(0);`,
    );
    expect((await lonely.exited).code).toBe(0);
    expect(lonely.stderr()).toContain("cannot reach http://127.0.0.1:1");
    expect(lonely.stderr()).toMatch(
      /3 envelopes of this run are not delivered yet; they are kept in \S+away/,
    );
  });

  it("C16 several runs of one process are all finished, and the listeners are gone with the last", async () => {
    const several = job(
      "one",
      `const more = await cairn.init({ server: ${JSON.stringify(world.server.url)}, name: "two", spool: ${JSON.stringify(world.spool)}, capture: false });
       more.log({ a: 5 });
       await run.finish("failed");
       const during = process.listenerCount("SIGTERM");
       await more.finish();
       console.log(during, process.listenerCount("SIGTERM"), process.listenerCount("exit"), process.listenerCount("beforeExit"));`,
    );
    expect((await several.exited).code).toBe(0);
    expect(several.lines).toEqual(["1 0 0 0"]);
    expect(await outcome("one")).toMatchObject({ status: RunStatus.FAILED });
    expect(await outcome("two")).toMatchObject({ status: RunStatus.FINISHED, values: [5] });
  });

  it("C15 finishing twice and logging after it change nothing", async () => {
    const tidy = job(
      "twice",
      `const [one, two] = await Promise.all([run.finish("finished"), run.finish("failed")]);
       run.log({ a: 9 }); run.log({ a: 10 }); run.line("late"); run.tag("a", "b"); run.params.set({ c: 1 }); run.source("x");
       console.log(one === two, one.delivered, (await run.finish()) === one);`,
    );
    expect((await tidy.exited).code).toBe(0);
    expect(tidy.lines).toEqual(["true true true"]);
    expect(tidy.stderr()).toBe("cairn: log() after the run was finished is left out\n");
    expect(await outcome("twice")).toMatchObject({ status: RunStatus.FINISHED, values: [1] });
  });
});
