import { describe, expect, it } from "vitest";
import { expectAccessible, useWebPages } from "./web-page.ts";

describe("texts that are small to send and large to show", () => {
  const web = useWebPages({ demo: "none" });
  const newRun = async (notes = "") => (await web().cairn.runs.createRun({ name: "heavy", notes })).run!.id;

  it("S3 Z100 a text that takes too long is shown as source with the reason, and later texts are formatted", async () => {
    const page = await web().open(`/r/${await newRun("*a_".repeat(7_000))}`);
    await page.getByText("Shown as text: it takes too long to format.").waitFor();
    await expect.poll(() => page.getByLabel("Content").innerText()).toMatch(/^\*a_\*a_/);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Edit the notes" }).click();
    await page.getByLabel("Notes", { exact: true }).last().fill("# Plan\n\n- **one**\n- [x] two");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "Plan" }).waitFor();
    await page.getByRole("listitem").filter({ hasText: "☑ two" }).waitFor();
  });

  it("Z98 Z101 a page of any tags is a page in its frame", async () => {
    const files = await newRun();
    const { status } = await web().cairn.fetch(`/artifacts/${files}/odd.html`, {
      method: "PUT",
      headers: { "content-type": "text/html" },
      body:
        `<!doctype html><html><head><title>t</title></head><body bgcolor=red onload=x()>` +
        `<p>one<p>two<ul><li>a<li>b</ul><table><tr><td>1<td><b>2</table><P CLASS='x"y'>&eacute;&#x1F600; &nosuch; 1 < 2 & 3\u0000\ud800` +
        `<a href='javascript:x()'>bad</a><img src=x alt="far"><br/><svg><b>gone</svg><!-- gone --></i></div>end`,
    });
    expect(status).toBe(201);
    const page = await web().open(`/r/${files}?tab=artifacts&artifact=odd.html`);
    const body = page.locator("iframe").contentFrame().locator("body");
    await body.getByText("end").waitFor();
    expect((await body.innerText()).split(/\s*\n\s*/)).toEqual([
      "one",
      "two",
      "a",
      "b",
      "1\t2",
      "é😀 &nosuch; 1 < 2 & 3\ufffd\ufffdbad[picture: far]",
      "end",
    ]);
    expect(await body.locator("[href], [onload], svg").count()).toBe(0);
  });

  it("Z88 words of any length stay within the page", async () => {
    const word = "W".repeat(400);
    const { run } = await web().cairn.runs.createRun({
      namespace: "long",
      name: word,
      tags: { [word]: word },
      params: { [word]: JSON.stringify(word) },
      notes: `# ${word}\n\n${word}\n\n> - \`${word}\`\n\n|${word}|${word}|\n|-|-|\n|${word}|a|\n\n    ${word}`,
    });
    for (const path of [`/r/${run!.id}`, `/r/${run!.id}?tab=params`, "/n/long", "/"]) {
      const page = await web().open(path);
      await page.getByText(/WWWW/).first().waitFor();
      const beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate<number>(beyond), path).toBe(0);
    }
  });
});
