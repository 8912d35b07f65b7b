import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { inParallel } from "#base/in-parallel.ts";
import { Cairn } from "#sdk/client.ts";
import { expectAccessible, useWebPages } from "./web-page.ts";

const pages = useWebPages({ demo: "small", argv: ["--auth"] });
/** The message of a browser when the server answers that no user is signed in. */
const REFUSED = /status of 401|status of 403|status of 404/;

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByRole("textbox", { name: "Token" }).fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

describe("signing in", () => {
  it("Z76 Z77 S14 returns to the previous page, and scripts cannot read the session", async () => {
    const { url, server } = pages();
    const context = await pages().newContext();
    const page = await pages().open("/about?x=1", context);
    await page.waitForURL("**/login?next=**");
    await expectAccessible(page);
    await signIn(page, `cairn_${"x".repeat(43)}`);
    await page.getByRole("alert").getByText("it is not a valid token").waitFor();
    await signIn(page, server.newToken!);
    await page.waitForURL("**/about?x=1");
    await page.getByRole("button", { name: "admin" }).waitFor();
    expect(await page.evaluate("document.cookie")).toBe("");
    const pageKey = await page.evaluate<string>("localStorage.getItem('cairn.page-key')");
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
    const kept = await page.evaluate<string>("JSON.stringify(localStorage)");
    for (const secret of [server.newToken!, cookie!.value]) expect(kept).not.toContain(secret);
    expect(cookie!.value).not.toBe(server.newToken);
    // A second tab and a reload need nothing more.
    const other = await pages().open("/", context);
    await other.getByRole("button", { name: "admin" }).waitFor();
    await other.getByRole("banner").getByText("live", { exact: true }).waitFor();
    // The session ends on the server, in all tabs.
    const shown = { cookie: `${cookie!.name}=${cookie!.value}`, "x-cairn-page": pageKey };
    const held = new Cairn({ url }, { headers: () => shown });
    await held.system.getInfo({});
    const alone = new Cairn({ url }, { headers: () => ({ cookie: shown.cookie }) });
    await expect(alone.system.getInfo({})).rejects.toThrow("without a credential");
    const bearer = new Cairn({ url, token: cookie!.value });
    await expect(bearer.system.getInfo({})).rejects.toThrow("not a valid token");
    await page.getByRole("button", { name: "admin" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.waitForURL("**/login**");
    await other.waitForURL("**/login**");
    await expect(held.system.getInfo({})).rejects.toThrow("without a credential");
    await expect.poll(() => context.cookies()).toEqual([]);
    // The end of its stream may have led the page here, and the answer may have taken the cookie, before the page has read that answer.
    await expect.poll(() => page.evaluate("localStorage.getItem('cairn.page-key')")).toBeNull();
    pages().forgive(REFUSED);
  });

  it("Z76 a signed-out user gets the sign-in without a single refused call", async () => {
    const { url, server } = pages();
    const context = await pages().newContext();
    const refused: string[] = [];
    const calls: string[] = [];
    context.on("request", (request) => calls.push(new URL(request.url()).pathname));
    context.on("response", (response) => {
      if (response.status() === 401) refused.push(response.url());
    });
    const page = await pages().open("/n/demo?split=100", context);
    await page.waitForURL("**/login?next=**");
    await page.getByRole("textbox", { name: "Token" }).waitFor();
    expect(calls.filter((path) => path.includes("cairn.v1"))).toEqual([]);
    await signIn(page, server.newToken!);
    await page.waitForURL(`${url}/n/demo?split=100`);
    await page.locator("#row-0 a").waitFor();
    // A link on another site opens this page without the cookie, for any user.
    const other = await context.newPage();
    await other.route("http://elsewhere.test/", (route) =>
      route.fulfill({ contentType: "text/html", body: `<a href="${url}/n/demo?split=100">here</a>` }),
    );
    await other.goto("http://elsewhere.test/");
    await other.getByRole("link").click();
    await other.locator("#row-0 a").waitFor();
    expect(refused).toEqual([]);
  });

  it("Z76 signs in with a name and a password, by keyboard alone", async () => {
    const ada = `ada-${Date.now()}`;
    await pages().cairn.access.createPrincipal({ name: ada, kind: 1, password: "correct horse battery" });
    await pages().cairn.access.bindRole({ principal: ada, role: 1, scope: { namespace: "demo/vision" } });
    const page = await pages().open("/", await pages().newContext());
    await page.waitForURL("**/login");
    await page.getByRole("textbox", { name: "Token" }).waitFor();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Name" }).focus();
    await page.keyboard.type(ada);
    await page.keyboard.press("Tab");
    await page.keyboard.type("correct horse battery");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: ada }).waitFor();
    // She sees what she may, and of the rest not even the name.
    const tree = page.getByRole("navigation", { name: "Pages and namespaces" });
    await tree.getByText("vision").waitFor();
    expect(await tree.innerText()).not.toContain("speech");
    await page.goto(`${pages().url}/access?tab=audit`);
    await page.getByRole("alert").waitFor();
    pages().forgive(REFUSED);
  });

  it("Z76 a link to the sign-in cannot lead to another server", async () => {
    const page = await pages().open("/login?next=//evil.example/x", await pages().newContext());
    await signIn(page, pages().server.newToken!);
    await page.waitForURL(`${pages().url}/`);
    pages().forgive(REFUSED);
  });
});

async function signInAs(page: Page, name: string, password: string): Promise<void> {
  await page.getByRole("tab", { name: "Password" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${pages().url}/`);
}

describe("the access page", () => {
  // The administrator has the first context, and everyone else one of their own.
  beforeAll(async () => {
    const page = await pages().open("/login");
    await signIn(page, pages().server.newToken!);
    await page.waitForURL(`${pages().url}/`);
    await page.close();
  });

  it("Z79 makes a token, shows it once, and revokes it", async () => {
    const job = `nightly job ${Date.now()}`;
    const { cairn, url } = pages();
    const name = `mia-${Date.now()}`;
    await cairn.access.createPrincipal({ name, kind: 1, password: "correct horse battery" });
    await cairn.access.bindRole({ principal: name, role: 3, scope: { namespace: "demo" } });
    const page = await pages().open("/login", await pages().newContext());
    await signInAs(page, name, "correct horse battery");
    await page.goto(`${url}/access`);
    await page.getByRole("button", { name: "New token" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill(job);
    await dialog.getByRole("textbox", { name: "Only in these namespaces" }).fill("demo/speech");
    await dialog.getByRole("combobox", { name: "Highest role" }).click();
    await page.getByRole("option", { name: "writer" }).click();
    await expectAccessible(page);
    // What outlives the session is made with the password alone.
    expect(await dialog.getByRole("button", { name: "Create" }).isDisabled()).toBe(true);
    await dialog.getByRole("textbox", { name: "Your password" }).fill("correct horse battery");
    await dialog.getByRole("button", { name: "Create" }).click();
    const secret = await dialog.locator("code").innerText();
    await dialog.getByRole("button", { name: "Done" }).click();
    const held = new Cairn({ url: pages().url, token: secret });
    const { token } = await held.access.whoAmI({});
    expect(token).toMatchObject({ name: job, namespaces: ["demo/speech"], role: 2 });
    const row = page.getByRole("row", { name: new RegExp(job) });
    await row.getByText("demo/speech").waitFor();
    // The dialog takes a moment to go.
    await expect.poll(() => page.content()).not.toContain(secret);
    await expectAccessible(page);
    await row.getByRole("button", { name: "Revoke" }).click();
    await row.waitFor({ state: "detached" });
    await expect(held.access.whoAmI({})).rejects.toThrow("not a valid token");
    pages().forgive(REFUSED);
  });

  it("Z79, A67, A68: changes the own password, which ends the other sessions", async () => {
    const { cairn } = pages();
    const name = `noa-${Date.now()}`;
    await cairn.access.createPrincipal({ name, kind: 1, password: "correct horse battery" });
    await cairn.access.bindRole({ principal: name, role: 1, scope: { namespace: "demo" } });
    const [page, other] = [
      await pages().open("/login", await pages().newContext()),
      await pages().open("/login", await pages().newContext()),
    ];
    await signInAs(page, name, "correct horse battery");
    await signInAs(other, name, "correct horse battery");
    await page.getByRole("button", { name }).click();
    await page.getByRole("menuitem", { name: "Change password" }).click();
    const dialog = page.getByRole("dialog");
    const type = (label: string, text: string) =>
      dialog.getByRole("textbox", { name: label, exact: true }).fill(text);
    await type("Old password", "wrong");
    await type("New password", "another sentence");
    await type("Repeat it", "another");
    await dialog.getByText("The passwords differ.").waitFor();
    await type("Repeat it", "another sentence");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Change it" }).click();
    await dialog.getByRole("alert").getByText("your password is wrong").waitFor();
    await type("Old password", "correct horse battery");
    await dialog.getByRole("button", { name: "Change it" }).click();
    await dialog.waitFor({ state: "detached" });
    await other.waitForURL("**/login**");
    await page.goto(`${pages().url}/access`);
    await page.getByRole("button", { name }).waitFor();
    pages().forgive(REFUSED);
  });

  it("Z79 binds a role, explains it, closes a namespace and removes the role", async () => {
    const { cairn } = pages();
    const ci = `ci-${Date.now()}`;
    await cairn.access.setClosed({ scope: { namespace: "demo/translation" }, closed: false });
    await cairn.access.createPrincipal({ name: ci, kind: 2 });
    const page = await pages().open("/access?tab=scopes&scope=demo%2Ftranslation");
    const roles = page.getByRole("region", { name: "Roles" });
    await roles.getByRole("combobox", { name: "Who" }).click();
    await page.getByRole("option", { name: ci }).click();
    await roles.getByRole("button", { name: "Give the role" }).click();
    await roles.getByRole("row", { name: new RegExp(ci) }).waitFor();
    await page.getByRole("combobox", { name: "What may" }).click();
    await page.getByRole("option", { name: ci }).click();
    await page
      .getByRole("region", { name: "Why?" })
      .getByText(/viewer/)
      .first()
      .waitFor();
    await roles.getByRole("button", { name: "Close it" }).click();
    await roles.getByText(/^Closed:/).waitFor();
    expect((await cairn.access.getScope({ scope: { namespace: "demo/translation" } })).closed).toBe(true);
    await expectAccessible(page);
    await roles.getByRole("button", { name: new RegExp(`^Revoke the role of ${ci}`) }).click();
    await roles.getByRole("row", { name: new RegExp(ci) }).waitFor({ state: "detached" });
    const scope = { namespace: "demo/translation" };
    await expect.poll(async () => (await cairn.access.getScope({ scope })).bindings).toEqual([]);
    pages().forgive(REFUSED);
  });

  it("Z79 N5 forbids and allows capture in a namespace, and shows inherited policies", async () => {
    const { cairn } = pages();
    await cairn.namespaces.createNamespace({ path: "policy/below" });
    const page = await pages().open("/access?tab=scopes&scope=policy");
    const capture = page.getByRole("region", { name: "Capture" });
    await capture.getByRole("button", { name: "Forbid console capture" }).click();
    await capture.getByText("Forbidden in policy.").waitFor();
    expect((await cairn.namespaces.getNamespace({ path: "policy" })).capture).toMatchObject({
      forbidConsole: true,
      forbidCode: false,
    });
    await page.goto(new URL("/access?tab=scopes&scope=policy%2Fbelow", page.url()).href);
    await capture.getByText("Forbidden in policy.").waitFor();
    expect(await capture.getByRole("button").count()).toBe(1);
    await page.goBack();
    await capture.getByRole("button", { name: "Allow console capture" }).click();
    await capture.getByRole("button", { name: "Forbid console capture" }).waitFor();
    pages().forgive(REFUSED);
  });

  it("Z79 makes users and groups, and shows the actions in the audit", async () => {
    const group = `readers-${Date.now()}`;
    const page = await pages().open("/access?tab=people");
    await page.getByRole("button", { name: "New …" }).click();
    await page.getByRole("combobox", { name: "Kind" }).click();
    await page.getByRole("option", { name: "group" }).click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Name", exact: true }).fill(group);
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("button", { name: `Actions for ${group}` }).click();
    await page.getByRole("menuitem", { name: "Members" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: "Who" }).click();
    await page.getByRole("option", { name: "admin" }).click();
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.getByRole("row", { name: /admin/ }).waitFor();
    await page.keyboard.press("Escape");
    await expectAccessible(page);
    await page.goto(`${pages().url}/access?tab=audit`);
    await page
      .getByRole("row", { name: /add-member/ })
      .first()
      .waitFor();
    await expectAccessible(page);
    pages().forgive(REFUSED);
  });

  it("Z210 a new user gets a first role in the same dialog", async () => {
    const { cairn } = pages();
    const name = `first-${Date.now()}`;
    const page = await pages().open("/access?tab=people");
    await page.getByRole("button", { name: "New …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill(name);
    await dialog.getByText("Without a role they can sign in, but see nothing.").waitFor();
    await dialog.getByRole("combobox", { name: "Role" }).click();
    await page.getByRole("option", { name: "writer" }).click();
    await dialog.getByRole("combobox", { name: "On" }).click();
    await page.getByRole("option", { name: "demo/speech", exact: true }).click();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.waitFor({ state: "detached" });
    const { bindings } = await cairn.access.getScope({ scope: { namespace: "demo/speech" } });
    expect(bindings.find(({ principal }) => principal === name)).toMatchObject({ role: 2 });
    pages().forgive(REFUSED);
  });

  it("Z79 finds a person in a long list by a part of the name", async () => {
    const names = Array.from({ length: 210 }, (_, i) => `zz-${String(i).padStart(3, "0")}`);
    await inParallel(names, 10, (name) => pages().cairn.access.createPrincipal({ name, kind: 2 }));
    const page = await pages().open("/access?tab=people");
    const rows = page.getByRole("table", { name: "People" }).locator("tbody tr");
    await page.getByText(/^\d+ more: type a part of the name\.$/).waitFor();
    expect(await rows.count()).toBe(200);
    await expectAccessible(page);
    await page.getByRole("textbox", { name: "Find" }).fill("Z-209");
    await page.getByRole("row", { name: /zz-209/ }).waitFor();
    expect(await rows.count()).toBe(1);
    expect(await page.getByText(/more: type/).count()).toBe(0);
    pages().forgive(REFUSED);
  });

  // The last one: an administrator with a password ends the first token.
  it("Z79, A65: sets the password of a new user only with the own password", async () => {
    const { cairn, url } = pages();
    const [admin, name] = [`boss-${Date.now()}`, `new-${Date.now()}`];
    await cairn.access.createPrincipal({ name: admin, kind: 1, password: "correct horse battery" });
    await cairn.access.bindRole({ principal: admin, role: 4, scope: { namespace: "" } });
    const page = await pages().open("/login", await pages().newContext());
    await signInAs(page, admin, "correct horse battery");
    await page.goto(`${url}/access?tab=people`);
    await page.getByRole("button", { name: "New …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill(name);
    await dialog.getByRole("textbox", { name: "Password", exact: true }).fill("another sentence");
    await dialog.getByRole("textbox", { name: "Your password" }).fill("wrong password");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("your password is wrong").waitFor();
    await dialog.getByRole("textbox", { name: "Your password" }).fill("correct horse battery");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("row", { name: new RegExp(name) }).waitFor();
    await new Cairn({ url }).access.logIn({ name, password: "another sentence" });
    pages().forgive(REFUSED);
  });
});
