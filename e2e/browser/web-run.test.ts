import { ArtifactKind } from "#proto/cairn/v1/artifact_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { COLOUR_RULES, expectAccessible, useWebPages } from "./web-page.ts";

const web = useWebPages();

async function newRun(name: string, more: object = {}): Promise<string> {
  const { run } = await web().cairn.runs.createRun({ namespace: "pages/run", name, ...more });
  return run!.id;
}

function tab(page: Page, name: string) {
  return page.getByRole("tab", { name });
}

describe("the page of a run", () => {
  it("Z40 keeps its part in the address, and Back goes back", async () => {
    const id = web().demo.ids.get("unet-wide")!;
    const page = await web().open(`/r/${id}`);
    await page.getByRole("heading", { name: "unet-wide" }).waitFor();
    await page.getByText("Twice the width is worth").waitFor();
    await tab(page, "Provenance").click();
    await page.getByText("Run it again").waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get("tab")).toBe("provenance");
    await page.reload();
    await page.getByText("Run it again").waitFor();
    await page.goBack();
    await page.getByRole("table", { name: "Metrics" }).waitFor();
  });

  it("Z42 follows what happens to the run, without a reload", async () => {
    const { cairn } = web();
    const id = await newRun("followed", { params: { lr: "0.1" } });
    const page = await web().open(`/r/${id}`);
    await page.getByText("running", { exact: true }).waitFor();
    await page.getByText("No metrics yet").waitFor();
    await cairn.metrics.writeEnvelope({
      run: { id },
      series: [{ key: "loss", steps: [1n], values: [0.75] }],
    });
    await page.getByRole("cell", { name: "0.75" }).first().waitFor();
    await cairn.metrics.writeEnvelope({
      run: { id },
      series: [{ key: "loss", steps: [2n], values: [0.25] }],
    });
    await page.getByRole("cell", { name: "0.25" }).first().waitFor();
    await cairn.runs.updateRun({
      run: { id },
      params: { batch: "64" },
      tags: { team: "asr" },
      notes: "*so far* so good",
    });
    await page.getByRole("treeitem", { name: "batch" }).waitFor();
    await page.getByRole("button", { name: "team asr" }).waitFor();
    await page.locator("em", { hasText: "so far" }).waitFor();
    await cairn.metrics.writeEnvelope({ run: { id }, status: RunStatus.FINISHED });
    await page.getByText("finished", { exact: true }).waitFor();
  });

  it("Z42 changes tags and notes in place", async () => {
    const { cairn } = web();
    const id = await newRun("edited");
    const page = await web().open(`/r/${id}`);
    await page.getByRole("button", { name: "Add a tag" }).click();
    await page.getByLabel("Tag", { exact: true }).fill("stage");
    await page.getByLabel("Value").fill("final");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Remove tag stage" }).waitFor();
    await page.getByRole("button", { name: "Edit the notes" }).click();
    await page.getByLabel("Notes", { exact: true }).last().fill("# Plan\n\n- **one**");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator("strong", { hasText: "one" }).waitFor();
    const run = await cairn.runs.getRun({ run: { id } });
    expect([run.tags, run.notes]).toEqual([{ stage: "final" }, "# Plan\n\n- **one**"]);
    await page.getByRole("button", { name: "Remove tag stage" }).click();
    await expect.poll(async () => (await cairn.runs.getRun({ run: { id } })).tags).toEqual({});
  });

  it("Z43 Z98 shows artifacts by their kind, HTML with its own styles", async () => {
    const { cairn } = web();
    const id = await newRun("filing");
    const record = (name: string, mediaType: string, content: string) =>
      cairn.artifacts.recordArtifact({
        run: { id },
        artifact: { name, mediaType, content: new TextEncoder().encode(content) },
      });
    await record("table.csv", "text/csv", 'name,score\n"a, b",7\n');
    await record(
      "page.html",
      "text/html",
      '<style>.warm { background: rgb(255, 200, 0); list-style-image: url("/never-asked-for") }</style>' +
        '<h1 style="color:rgb(255, 0, 0)" class="warm">Title</h1><script>parent.document.title="owned"</script>' +
        '<p style="background:url(http://127.0.0.1:9/p.png)"><img src=x onerror=alert(1)>',
    );
    await record("tree.json", "application/json", '{"big": 9007199254740993}');
    await cairn.artifacts.recordArtifact({
      run: { id },
      artifact: { name: "model", kind: ArtifactKind.MODEL, uri: "http://127.0.0.1:9/never" },
    });
    const page = await web().open(`/r/${id}?tab=artifacts`);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.getByRole("option", { name: "table.csv" }).click();
    await page.getByRole("cell", { name: "a, b" }).waitFor();
    await page.getByRole("option", { name: "tree.json" }).click();
    await page.getByText("9007199254740993").waitFor();
    await page.getByRole("option", { name: "page.html" }).click();
    const frame = page.locator("iframe");
    expect(await frame.getAttribute("sandbox")).toBe("");
    await frame.contentFrame().getByRole("heading", { name: "Title" }).waitFor();
    const looks = frame
      .contentFrame()
      .getByRole("heading", { name: "Title" })
      .evaluate((title) => {
        const { getComputedStyle } = globalThis as unknown as {
          getComputedStyle: (element: unknown) => { color: string; backgroundColor: string };
        };
        const { color, backgroundColor } = getComputedStyle(title);
        return { color, backgroundColor };
      });
    expect(await looks).toEqual({ color: "rgb(255, 0, 0)", backgroundColor: "rgb(255, 200, 0)" });
    expect(await page.title()).not.toBe("owned");
    await page.getByRole("option", { name: "model" }).click();
    await page.getByText("http://127.0.0.1:9/never").waitFor();
    expect(asked.filter((url) => /:9\/|never-asked-for/.test(url))).toEqual([]);
    await expectAccessible(page);
  });

  it("S23 warns only of files that run code when loaded", async () => {
    const { cairn } = web();
    const id = await newRun("pickled");
    for (const name of ["model.pt", "model.safetensors"]) {
      const content = new TextEncoder().encode("weights");
      await cairn.artifacts.recordArtifact({ run: { id }, artifact: { name, content } });
    }
    const page = await web().open(`/r/${id}?tab=artifacts`);
    const warning = page.getByText("Loading this file can run code");
    await page.getByRole("option", { name: "model.pt" }).click();
    await warning.waitFor();
    await expectAccessible(page);
    await page.getByRole("option", { name: "model.safetensors" }).click();
    await page.getByRole("heading", { name: "model.safetensors" }).waitFor();
    expect(await warning.count()).toBe(0);
  });

  it("Z44 moves all media by one step", async () => {
    const id = web().demo.ids.get("unet-wide")!;
    const page = await web().open(`/r/${id}?tab=media`);
    await page.getByRole("group", { name: "Confusion matrix" }).waitFor();
    await page.getByRole("img", { name: /^ROC/ }).waitFor();
    const masks = page.getByRole("img", { name: "samples/masks.png" });
    await masks.waitFor();
    const slider = page.getByRole("slider", { name: "Step" });
    const before = Number(await slider.inputValue());
    await page.locator("body").press("ArrowLeft");
    await expect.poll(async () => Number(await slider.inputValue())).toBe(before - 1);
    await expect.poll(() => masks.getAttribute("src")).toContain("step=299");
    await page.locator("body").press("ArrowRight");
    await expect.poll(async () => Number(await slider.inputValue())).toBe(before);
  });

  it("Z47 shows how to reproduce the run, and uncommitted changes", async () => {
    const id = await newRun("dirty", {
      provenance: {
        command: ["python", "train it.py"],
        code: {
          repository: "https://git.example.org/a/b.git",
          commit: "0123456789abcdef",
          dirtyPatch: "diff --git a/x b/x\n@@ -1 +1 @@\n-old\n+new\n",
        },
      },
    });
    const page = await web().open(`/r/${id}?tab=provenance`);
    await page.getByText("git apply uncommitted.patch").waitFor();
    const row = (name: string) =>
      page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
    await row("Commit").getByRole("img", { name: "recorded", exact: true }).waitFor();
    await row("Training data").getByRole("img", { name: "not recorded" }).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download the patch" }).click();
    expect((await download).suggestedFilename()).toBe("uncommitted.patch");
    await expectAccessible(page);
  });

  it("Z42 draws the metrics of the run, and those of its machine by time", async () => {
    const page = await web().open(`/r/${web().demo.ids.get("sweep-1")}?tab=charts`);
    await page.getByText("train/loss").first().waitFor();
    await page.locator("canvas").first().waitFor();
    await tab(page, "System").click();
    await page.getByText("system/gpu_util").first().waitFor();
    await expect.poll(() => page.getByText("train/loss").count()).toBe(0);
  });

  it("Z48 leads from run to run along the lineage", async () => {
    const page = await web().open(`/r/${web().demo.ids.get("distil")}?tab=lineage`);
    await page.getByRole("link", { name: "wav2vec-pretrain" }).click();
    await page.getByRole("heading", { name: "wav2vec-pretrain" }).waitFor();
    await page.getByRole("link", { name: "wav2vec-distilled" }).waitFor();
    // Six runs in a row are not cut, even in a window of 1280 pixels.
    const graph = page.getByRole("region", { name: "Lineage graph" });
    await expect.poll(() => graph.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
  });

  it("Z49 shows untrusted texts only as text", async () => {
    const { cairn } = web();
    const evil = "<img src=x onerror=\"document.title='owned'\">";
    const id = await newRun(`${evil}\u202e`, {
      params: { [evil]: JSON.stringify(evil) },
      tags: { [evil]: evil },
      notes: `${evil}<script>document.title='owned'</script>[x](javascript:document.title='owned') ![p](http://127.0.0.1:9/p.png)<svg onload=alert(1)>`,
      provenance: {
        command: [evil],
        environment: { [evil]: evil },
        code: { commit: evil, dirtyPatch: `+${evil}\n` },
        trainingData: [evil],
      },
    });
    await cairn.lineage.addSource({ run: { id }, source: { id: evil } });
    await cairn.metrics.writeEnvelope({
      run: { id },
      series: [{ key: evil, values: [1] }],
      log: [{ lines: [evil], stream: "err" }],
    });
    const page = await web().open(`/r/${id}`);
    await page.getByRole("heading", { name: "⟨U+202E⟩" }).waitFor();
    await page.getByText("[picture: p]").waitFor();
    for (const name of ["Artifacts", "Media", "Logs", "System", "Provenance", "Lineage"]) {
      await tab(page, name).click();
      await expect.poll(() => page.getByRole("tabpanel").innerText()).not.toBe("");
    }
    expect(await page.title()).not.toBe("owned");
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
  });

  it("Z50 shows the pipeline, and keeps it in the address", async () => {
    const page = await web().open(`/r/${web().demo.ids.get("distil")}`);
    await page.getByRole("button", { name: "Provenance pipeline" }).click();
    const pipeline = page.getByRole("dialog", { name: "Provenance pipeline" });
    await pipeline.getByRole("link", { name: "wav2vec-finetune-960h" }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get("pipeline")).toBe("true");
    await expectAccessible(page);
    await pipeline.getByRole("link", { name: "wav2vec-finetune-960h" }).click();
    await page.getByRole("heading", { name: "wav2vec-finetune-960h" }).waitFor();
  });

  it("Z51 reports an unknown run, and restores one from the trash", async () => {
    const unknown = await web().open(`/r/${"0".repeat(32)}?tab=logs`);
    await unknown.getByText("Run not found, or you may not read it").waitFor();
    const strange = await web().open("/r/%3Cscript%3E");
    await strange.getByText("Run not found, or you may not read it").waitFor();
    web().forgive(/Failed to load resource: the server responded with a status of (?:404|400)/);
    const id = await newRun("thrown away");
    const page = await web().open(`/r/${id}`);
    await page.getByRole("button", { name: "Move to the trash" }).click();
    await page.getByText("In the trash since").waitFor();
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByText("In the trash since").waitFor({ state: "detached" });
    expect((await web().cairn.runs.getRun({ run: { id } })).deletedUs).toBe(0n);
  });

  it("Z52 stays fast with very much data", async () => {
    const { cairn } = web();
    const params = Object.fromEntries(
      Array.from({ length: 9_999 }, (_, i) => [`group${i % 20}.param${i}`, String(i)]),
    );
    const id = await newRun("huge", { params: { ...params, long: JSON.stringify("x".repeat(10_000)) } });
    const series = Array.from({ length: 12_000 }, (_, i) => ({
      key: `layer${i}/norm`,
      steps: [1n],
      values: [i],
    }));
    await cairn.metrics.writeEnvelope({ run: { id }, series });
    for (let at = 0; at < 20; at++) {
      await cairn.metrics.writeEnvelope({
        run: { id },
        log: [{ lines: Array.from({ length: 1_000 }, (_, i) => `row ${at * 1_000 + i}`) }],
      });
    }
    const page = await web().open(`/r/${id}`);
    await page.getByText("12,000", { exact: true }).waitFor();
    await page.getByRole("treeitem", { name: /^group3 / }).waitFor();
    expect(await page.getByRole("row").count()).toBeLessThan(100);
    await page.getByLabel("Find metrics").fill("layer11999");
    await page.getByRole("cell", { name: "11,999" }).first().waitFor();
    await page.getByLabel("Find params").fill("param777");
    await page.getByRole("treeitem", { name: "param7770" }).waitFor();
    await page.getByLabel("Find params").fill("long");
    await page.getByRole("button", { name: "all 10,000 characters" }).click();
    await page.getByRole("dialog", { name: "long" }).waitFor();
    await page.keyboard.press("Escape");
    await tab(page, "Logs").click();
    await page.getByText("row 19999").waitFor();
    expect(await page.getByRole("log").locator("time").count()).toBeLessThan(200);
  });

  it("Z52 has a useful page for a run without anything", async () => {
    const page = await web().open(`/r/${await newRun("bare")}`);
    await page.getByText("No metrics yet").waitFor();
    await page.getByText("No params").waitFor();
    const parts = {
      Artifacts: "No artifacts",
      Media: "No media",
      Logs: "No lines yet",
      System: "No system metrics",
      Lineage: "No lineage",
    };
    for (const [name, words] of Object.entries(parts)) {
      await tab(page, name).click();
      await page.getByText(words).waitFor();
    }
  });

  it("Z53 breaks no accessibility rule, in light or in dark", async () => {
    const id = web().demo.ids.get("unet-wide")!;
    const page = await web().open(`/r/${id}`);
    const look = async () => {
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: "dark" });
      await page.locator("html[data-theme=dark]").waitFor();
      await expectAccessible(page, COLOUR_RULES);
      await page.emulateMedia({ colorScheme: "light" });
      await page.locator("html[data-theme=light]").waitFor();
    };
    await page.getByRole("table", { name: "Metrics" }).waitFor();
    await page.getByRole("treeitem").first().waitFor();
    await look();
    const parts = {
      Artifacts: "eval/roc.json",
      Media: "samples/masks.png",
      Logs: "train/loss",
      Provenance: "Run it again",
      Lineage: "s3://pictures/streets-2026",
    };
    for (const [name, words] of Object.entries(parts)) {
      await tab(page, name).click();
      await page.getByRole("tabpanel").getByText(words).first().waitFor();
      await look();
    }
  });

  it("Z53 is walked by keyboard alone", async () => {
    const page = await web().open(`/r/${web().demo.ids.get("unet-wide")}`);
    await tab(page, "Overview").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("listbox", { name: "Artifacts" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.getByRole("heading", { name: "eval/confusion.json" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.getByRole("heading", { name: "eval/pr.json" }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get("artifact")).toBe("eval/pr.json");
  });
});
