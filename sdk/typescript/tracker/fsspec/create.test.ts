import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFsspecTracker } from "./create.ts";
import { parseFsspecConfig } from "./parse-config.ts";
import { nameOf } from "./run-names.ts";

let folder: string;
let config: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "cairn-fsspec-"));
  config = join(folder, "tracker.conf");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("the config file", () => {
  it("X26 nests keys by their dots and takes comments in the first column alone", () => {
    const settings = parseFsspecConfig(
      "#protocol=s3\nprotocol = file \r\nroot_path=/tmp/a=b\nclient_kwargs.endpoint_url=http://x\nclient_kwargs.a.b=1\n" +
        " # no comment = 1\nno value here\n=nothing\nempty=\n",
    );
    expect(settings).toEqual(
      new Map<string, unknown>([
        ["protocol", "file"],
        ["root_path", "/tmp/a=b"],
        [
          "client_kwargs",
          new Map<string, unknown>([
            ["endpoint_url", "http://x"],
            ["a", new Map([["b", "1"]])],
          ]),
        ],
        ["# no comment", "1"],
        ["empty", ""],
      ]),
    );
  });

  it("X26 refuses a key that ends with a dot, and one that is a value and a section", () => {
    expect(() => parseFsspecConfig("a.=1")).toThrow('cannot use config key "a.": it ends with a dot');
    expect(() => parseFsspecConfig("a=1\na.b=2")).toThrow('cannot use config key "a.b": "a" has a value');
  });

  it("X26 makes a tracker, also from a URL", async () => {
    const root = join(folder, "runs");
    await mkdir(root);
    await writeFile(config, `protocol=file\nroot_path=${root}\nauto_mkdir=True\n`);
    const tracker = await createFsspecTracker(pathToFileURL(config).href);
    await tracker.addMetadata("a", { lr: 1 });
    const again = await createFsspecTracker(config);
    expect([...(await again.metadata("a"))]).toEqual([["lr", 1]]);
  });

  it("X26 names what is missing, unknown or does not exist", async () => {
    await expect(createFsspecTracker(null)).rejects.toThrow("without a config");
    await expect(createFsspecTracker(config)).rejects.toThrow(`cannot read tracker config "${config}"`);
    await expect(createFsspecTracker("s3://bucket/conf")).rejects.toThrow("only files of this machine");
    await writeFile(config, "protocol=file\n");
    await expect(createFsspecTracker(config)).rejects.toThrow("it has no root_path");
    await writeFile(config, "# nothing\n");
    await expect(createFsspecTracker(config)).rejects.toThrow("it has no protocol and no root_path");
    await writeFile(config, "protocol=s3\nroot_path=bucket/x\n");
    await expect(createFsspecTracker(config)).rejects.toThrow('protocol "s3" is not known here');
    await writeFile(config, `protocol=file\nroot_path=${folder}/nowhere\n`);
    await expect(createFsspecTracker(config)).rejects.toThrow("it does not exist; create it first");
  });

  it("X23 reports what it skips", async () => {
    await writeFile(config, `protocol=local\nroot_path=${folder}\n`);
    await mkdir(join(folder, "not a run"));
    await mkdir(join(folder, nameOf("run")));
    const messages: string[] = [];
    const tracker = await createFsspecTracker(config, (message) => messages.push(message));
    expect(await tracker.runIds()).toEqual(["run"]);
    expect(messages).toEqual([`skipped "${folder}/not a run": its name is not a run id in base32`]);
  });

  it("X26 keeps memory for the process", async () => {
    await writeFile(config, "protocol=memory\nroot_path=/\n");
    await (await createFsspecTracker(config)).addMetadata("in-memory", { a: 1 });
    expect(await (await createFsspecTracker(config)).runIds()).toEqual(["in-memory"]);
  });
});
