import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const MODULE = JSON.stringify(fileURLToPath(new URL("console.ts", import.meta.url)));
const HEAD = `
  import { writeFileSync } from "node:fs";
  import { captureConsole } from ${MODULE};
  const lines = [];
  const keep = (stream, line, timeUs) => {
    if (!Number.isSafeInteger(timeUs)) throw new Error("no time");
    lines.push([stream, line]);
  };
  process.on("exit", () => writeFileSync(3, JSON.stringify(lines)));
`;

interface Printed {
  stdout: Buffer;
  stderr: Buffer;
  /** What was captured. */
  lines: [stream: string, line: string][];
  code: number | null;
}

/** Runs a script in its own process, with real streams. */
async function run(script: string): Promise<Printed> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", HEAD + script], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    timeout: 60_000,
  });
  const outputs = [1, 2, 3].map((fd) => {
    const pieces: Buffer[] = [];
    child.stdio[fd as 1 | 2 | 3]!.on("data", (piece: Buffer) => pieces.push(piece));
    return pieces;
  });
  const [code] = (await once(child, "close")) as [number | null];
  const [stdout, stderr, report] = outputs.map((pieces) => Buffer.concat(pieces));
  return { stdout: stdout!, stderr: stderr!, lines: JSON.parse(report!.toString() || "[]"), code };
}

describe("captureConsole", () => {
  const script = `
    console.log("one %d", 1);
    console.error("two");
    process.stdout.write("thr");
    process.stdout.write("ee\\nfo");
    process.stderr.write(Buffer.from([0xc3]));
    process.stderr.write(new Uint8Array([0xa9, 0x0a, 0xff, 0x00, 0x0a]));
    process.stdout.write("757221", "hex");
    process.stdout.write("\\xe9\\n", "latin1");
    process.stdout.write("10%\\r20%\\r30%\\n");
    console.log("x".repeat(100_000));
    console.table([{ a: 1 }]);
  `;

  it("C33 passes on every byte as it is without a capture", async () => {
    const [with_, without] = await Promise.all([run(`captureConsole(keep); ${script}`), run(script)]);
    expect(with_.code).toBe(0);
    expect(with_.stdout).toEqual(without.stdout);
    expect(with_.stderr).toEqual(without.stderr);
    expect(with_.lines.slice(0, 8)).toEqual([
      ["stdout", "one 1"],
      ["stderr", "two"],
      ["stdout", "three"],
      ["stderr", "é"],
      ["stderr", "\ufffd\u0000"],
      ["stdout", "four!\ufffd"],
      ["stdout", "30%"],
      ["stdout", expect.stringMatching(/^x{65000,} … \[\d+ characters cut\]$/)],
    ]);
    expect(with_.lines.length).toBe(8 + 5);
    expect(without.lines).toEqual([]);
  });

  it("C33 keeps return values, callbacks and errors", async () => {
    const { lines, code } = await run(`
      captureConsole(keep);
      const report = [];
      report.push(typeof process.stdout.write("a\\n"));
      try { process.stdout.write(42); } catch (error) { report.push(error.code); }
      await new Promise((done) => process.stdout.write("b\\n", done));
      report.push("callback");
      await new Promise((done) => process.stdout.write("c\\n", "utf8", done));
      report.push("callback with encoding");
      lines.push(["report", report.join()]);
    `);
    expect(code).toBe(0);
    expect(lines).toEqual([
      ["stdout", "a"],
      ["stdout", "b"],
      ["stdout", "c"],
      ["report", "boolean,ERR_INVALID_ARG_TYPE,callback,callback with encoding"],
    ]);
  });

  it("C33 a pipe into standard output flows on", async () => {
    const { stdout, lines } = await run(`
      import { Readable } from "node:stream";
      captureConsole(keep);
      Readable.from(Array.from({ length: 500 }, (_, at) => Buffer.from(at + "\\n".repeat(at % 2)))).pipe(process.stdout);
    `);
    expect(stdout.toString().split("\n")).toHaveLength(251);
    expect(lines.map(([, line]) => line)).toEqual(stdout.toString().split("\n").slice(0, 250));
  });

  it("C35 does not capture what the handler prints, and ignores its exceptions", async () => {
    const { stdout, stderr, lines, code } = await run(`
      captureConsole((stream, line) => {
        keep(stream, line, 0);
        console.log("about " + line);
        console.error("also");
        throw new Error("no");
      });
      console.log("a");
      console.log("b");
    `);
    expect(code).toBe(0);
    expect(stdout.toString()).toBe("a\nabout a\nb\nabout b\n");
    expect(stderr.toString()).toBe("also\nalso\n");
    expect(lines).toEqual([
      ["stdout", "a"],
      ["stdout", "b"],
    ]);
  });

  it("C35 hands over the unfinished line when stopped, and restores the streams", async () => {
    const { lines, stdout } = await run(`
      const before = process.stdout.write;
      const capture = captureConsole(keep);
      process.stdout.write("50%\\r60%");
      process.stderr.write("half");
      capture.stop();
      capture.stop();
      lines.push(["restored", String(process.stdout.write === before && !Object.hasOwn(process.stdout, "write"))]);
      console.log("later");
    `);
    expect(stdout.toString()).toBe("50%\r60%later\n");
    expect(lines).toEqual([
      ["stdout", "60%"],
      ["stderr", "half"],
      ["restored", "true"],
    ]);
  });

  it("C35 can be stopped while others capture as well, in any order", async () => {
    const { lines, stdout } = await run(`
      const by = (name) => captureConsole((_, line) => lines.push([name, line]));
      const first = captureConsole((_, line) => { lines.push(["first", line]); console.log("from first"); });
      const second = by("second");
      console.log("a");
      first.stop();
      console.log("b");
      second.stop();
      const third = by("third");
      console.log("c");
      third.stop();
      const fourth = captureConsole((_, line) => { lines.push(["fourth", line]); fourth.stop(); });
      process.stdout.write("d\\ne\\nf");
      console.log("g");
    `);
    expect(stdout.toString()).toBe("a\nfrom first\nb\nc\nd\ne\nfg\n");
    expect(lines).toEqual([
      ["first", "a"],
      ["second", "from first"],
      ["second", "a"],
      ["second", "b"],
      ["third", "c"],
      ["fourth", "d"],
      ["fourth", "e"],
    ]);
  });

  it("C39 redacts the secrets of the environment in the lines, and nowhere else", async () => {
    const { lines, stdout } = await run(`
      process.env.HF_TOKEN = "planted-token";
      process.env.API_KEY = "short";
      captureConsole(keep);
      process.stdout.write("using plan");
      process.stdout.write("ted-token, short\\n");
    `);
    expect(stdout.toString()).toBe("using planted-token, short\n");
    expect(lines).toEqual([["stdout", "using [redacted], short"]]);
  });
});
