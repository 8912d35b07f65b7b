import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { expectAccessible, useWebPages } from "./web-page.ts";

const pages = useWebPages({ demo: "small", argv: ["--auth"] });
const PASSWORD = "correct horse battery";
/** The message of a browser when the server refuses a call. */
const REFUSED = /status of 40[134]/;

async function signInAs(page: Page, name: string): Promise<void> {
  await page.getByRole("tab", { name: "Password" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${pages().url}/`);
}

describe("a user without a role", () => {
  it("Z203 Z200 sees a page that says so and whom to ask, gets in once there is a role, and can sign in as another", async () => {
    const { cairn, url } = pages();
    const name = `noor-${Date.now()}`;
    await cairn.access.createPrincipal({ name, kind: 1, password: PASSWORD });
    const page = await pages().open("/login", await pages().newContext());
    await signInAs(page, name);
    const said = page.getByRole("heading", { name: "You have no role on this server yet" });
    await said.waitFor();
    await page.getByText(name, { exact: true }).first().waitFor();
    await page.getByText(`cairn access grant writer ${name} NAMESPACE`).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await expectAccessible(page);
    await page.goto(`${url}/n/demo`);
    await said.waitFor();
    await cairn.access.bindRole({ principal: name, role: 1, scope: { namespace: "demo" } });
    await page.getByRole("button", { name: "Check again" }).click();
    await page.locator("#row-0 a").waitFor();
    // A viewer is offered nothing that would be refused.
    await page.goto(`${url}/r/${pages().demo.ids.get("spike")!}?tab=provenance`);
    await page.getByText("Run it again").waitFor();
    await page.getByRole("button", { name }).waitFor();
    expect(await page.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
    await page.getByRole("tab", { name: "Overview" }).click();
    await page.getByRole("region", { name: "Tags" }).waitFor();
    for (const label of ["Add a tag", "Edit the notes", "Move to the trash"]) {
      expect(await page.getByRole("button", { name: label }).count(), label).toBe(0);
    }
    await expectAccessible(page);
    await cairn.access.unbindRole({ principal: name, scope: { namespace: "demo" } });
    await page.reload();
    await page.getByRole("button", { name: "Sign in as somebody else" }).click();
    await page.getByRole("textbox", { name: "Token" }).waitFor();
    pages().forgive(REFUSED);
  });

  it("Z204 a wrong token is refused without talk of headers", async () => {
    const page = await pages().open("/login", await pages().newContext());
    await page.getByRole("textbox", { name: "Token" }).fill(`cairn_${"x".repeat(43)}`);
    await page.getByRole("button", { name: "Sign in" }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("it is not a valid token").waitFor();
    expect(await alert.innerText()).not.toMatch(/authorization|Bearer|CreateToken/);
    pages().forgive(REFUSED);
  });
});

describe("one's own runs", () => {
  it("Z211 a switch on the runs page and on home shows only them", async () => {
    const { cairn, url } = pages();
    const name = `eva-${Date.now()}`;
    await cairn.access.createPrincipal({ name, kind: 1, password: PASSWORD });
    await cairn.access.bindRole({ principal: name, role: 2, scope: { namespace: "demo" } });
    const { secret } = await new Cairn({ url }).access.logIn({ name, password: PASSWORD });
    await new Cairn({ url, token: secret }).runs.createRun({ namespace: "demo/vision", name: "by-eva" });
    const page = await pages().open("/login", await pages().newContext());
    await signInAs(page, name);
    const button = page.getByRole("button", { name: "My runs" });
    await button.click();
    const mine = page.getByRole("region", { name: "My recent runs" });
    await mine.getByRole("link", { name: "by-eva" }).waitFor();
    await expect.poll(() => mine.getByRole("listitem").count()).toBe(1);
    await page.getByText("None of your runs is running.").or(page.getByText("1 running")).first().waitFor();
    expect(new URL(page.url()).searchParams.get("mine")).toBe("true");
    await expectAccessible(page);
    await mine.getByRole("link", { name: "All my runs" }).click();
    await page.getByText("1 run matches").waitFor();
    await page.goto(`${url}/n/demo?q=status+%3D+%22finished%22+order+by+name`);
    await page.locator("#row-0 a").waitFor();
    expect(await button.getAttribute("aria-pressed")).toBe("false");
    await button.click();
    const query = page.getByRole("combobox", { name: "Query" });
    await expect.poll(() => query.inputValue()).toBe('status = "finished" and creator = me order by name');
    expect(await button.getAttribute("aria-pressed")).toBe("true");
    await expectAccessible(page);
    await button.click();
    await expect.poll(() => query.inputValue()).toBe('status = "finished" order by name');
    await query.fill("creator = me");
    await query.press("Enter");
    await page.getByRole("link", { name: "by-eva" }).waitFor();
    await page.getByText("1 run matches").waitFor();
    pages().forgive(REFUSED);
  });
});
