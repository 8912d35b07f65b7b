import type { Locator } from "playwright-core";
import { describe, expect, it } from "vitest";
import { useWebPages } from "./web-page.ts";

/** Far more than it takes to type a word: what waits for a frame comes too late for it. */
const FRAME_MS = 1_500;
/** A browser of a machine that is busy: every animation frame comes late. */
const web = useWebPages({
  initScript: `{
    const soon = requestAnimationFrame;
    globalThis.requestAnimationFrame = (draw) => setTimeout(() => soon(draw), ${FRAME_MS});
  }`,
});
/** Letters that are keys of the page outside of fields. */
const LETTERS = "t?gh";

/** Of a page, because there is none where this is checked. */
interface PageGlobals {
  document: { execCommand(name: string, ui: boolean, value: string): boolean };
  KeyboardEvent: new (type: string, init: object) => Event;
}

async function newRun(name: string): Promise<string> {
  const { run } = await web().cairn.runs.createRun({ namespace: "pages/typing", name, params: { lr: "1" } });
  return run!.id;
}

function isFocused(element: Locator): Promise<boolean> {
  return element.evaluate((one) => one === one.ownerDocument.activeElement);
}

/** Types into what has the focus without a pause between letters, as if they had waited for a busy machine. */
async function typeAtOnce(field: Locator, text: string): Promise<void> {
  await field.focus();
  await field.evaluate((_, letters) => {
    const { document } = globalThis as unknown as PageGlobals;
    for (const letter of letters) document.execCommand("insertText", false, letter);
  }, text);
}

describe("letters typed quickly", () => {
  it("Z97 belong to the search from the key that opens it, and Enter opens their result", async () => {
    const name = `hurried-${Date.now()}`;
    const id = await newRun(name);
    const page = await web().open("/about");
    const button = page.getByRole("button", { name: "Check the data" });
    await button.focus();
    await page.keyboard.press("Control+k");
    await page.keyboard.type(LETTERS);
    await expect.poll(() => page.getByRole("combobox").inputValue()).toBe(LETTERS);
    expect(page.url()).toContain("/about");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => isFocused(button)).toBe(true);
    await page.keyboard.press("Control+k");
    await page.keyboard.type(name);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/r/${id}`);
  });

  it("Z97 belong to the field of a popover or dialog from the key that opens it, and the focus is restored", async () => {
    await newRun("tagged");
    const page = await web().open("/n/pages/typing");
    const row = page.locator('[aria-label="Runs"][aria-rowcount]').getByRole("checkbox").nth(1);
    await row.check();
    for (const [button, field] of [
      [page.getByRole("button", { name: /^Columns/ }), page.getByRole("textbox", { name: "Find a column" })],
      [page.getByRole("button", { name: "Tag", exact: true }), page.getByLabel("Tag", { exact: true })],
    ] as const) {
      await button.press("Enter");
      await page.keyboard.type(LETTERS);
      await expect.poll(() => field.inputValue()).toBe(LETTERS);
      await page.keyboard.press("Escape");
      await field.waitFor({ state: "detached" });
      await expect.poll(() => isFocused(button)).toBe(true);
    }
    expect(new URL(page.url()).pathname).toBe("/n/pages/typing");
  });

  it("Z97 belong to the query from the slash on, and follow completed text", async () => {
    const page = await web().open("/n/demo");
    const query = page.getByRole("combobox", { name: "Query" });
    await page.locator('[aria-label="Runs"][aria-rowcount]').waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type('= "failed"');
    await page.keyboard.press("Home");
    await page.keyboard.type("statu");
    await page.getByRole("option", { name: "status" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type("!");
    await expect.poll(() => query.inputValue()).toMatch(/^status ?! ?= "failed"$/);
  });

  it("Z97 belong to tags and notes from the click that edits them", async () => {
    const page = await web().open(`/r/${await newRun("noted")}`);
    await page.getByRole("button", { name: "Add a tag" }).press("Enter");
    await page.keyboard.type(LETTERS);
    await expect.poll(() => page.getByLabel("Tag", { exact: true }).inputValue()).toBe(LETTERS);
    await page.getByRole("button", { name: "Edit the notes" }).press("Enter");
    await page.keyboard.type(LETTERS);
    await expect.poll(() => page.locator("textarea").inputValue()).toBe(LETTERS);
  });

  it("Z97 are not removed by the address that stores them", async () => {
    const id = await newRun("looked-through");
    await web().cairn.metrics.writeEnvelope({
      run: { id },
      series: [{ key: "loss", steps: [1n], values: [1] }],
      log: [{ lines: ["one line"] }],
    });
    await web().cairn.artifacts.recordArtifact({
      run: { id },
      artifact: { name: "a.txt", mediaType: "text/plain", content: new TextEncoder().encode("a") },
    });
    const fields = {
      [`/r/${id}`]: { "Find metrics": "metrics", "Find params": "params" },
      [`/r/${id}?tab=artifacts`]: { "Find artifacts": "files" },
      [`/r/${id}?tab=logs`]: { "Find in the log": "find" },
      [`/r/${id}?tab=charts`]: { "Filter charts": "keys" },
      [`/compare?runs=${id}`]: { "Find a key": "find" },
    };
    const page = await web().open("/about");
    for (const [path, named] of Object.entries(fields)) {
      await page.goto(web().url + path);
      for (const [label, key] of Object.entries(named)) {
        const field = page.getByLabel(label, { exact: true });
        await typeAtOnce(field, "loss of words");
        await expect.poll(() => new URL(page.url()).searchParams.get(key)).toBe("loss of words");
        expect(await field.inputValue(), label).toBe("loss of words");
      }
    }
  });

  it("Z97 do not break Back, which shows the text of the address", async () => {
    const page = await web().open("/n/demo");
    const query = page.getByRole("combobox", { name: "Query" });
    await query.fill('status = "failed"');
    // Both before the page can get around to anything.
    await query.evaluate((field) => {
      const { KeyboardEvent, document } = globalThis as unknown as PageGlobals;
      field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
      document.execCommand("insertText", false, " and");
    });
    await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe('status = "failed"');
    expect(await query.inputValue()).toBe('status = "failed" and');
    await page.goBack();
    await expect.poll(() => query.inputValue()).toBe("");
  });
});
