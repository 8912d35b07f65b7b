import { describe, expect, it } from "vitest";
import { useWebPages } from "./web-page.ts";

const pages = useWebPages({ demo: "none", argv: ["--local-secret"] });
const REFUSED = /status of 401/;

describe("the link that the first start of a shared server prints", () => {
  const shared = useWebPages({ demo: "none", argv: ["--auth"] });

  it("B220 B221 Z77 signs the admin in once, and a second use leads to the sign-in", async () => {
    const { url, server } = shared();
    const path = `/login#${server.linkSecret!}`;
    const page = await shared().open(path, await shared().newContext());
    await page.waitForURL(`${url}/`);
    await page.getByRole("banner").getByText("live", { exact: true }).waitFor();
    const again = await shared().open(path, await shared().newContext());
    await again.getByRole("alert").getByText("it is not a valid token").waitFor();
    expect(again.url()).toBe(`${url}/login`);
    shared().forgive(REFUSED);
  });
});

describe("the link that a start prints", () => {
  it("A30 Z77 signs the owner in, is not sent to a server, and is removed from the address", async () => {
    const { url, server } = pages();
    const secret = server.localSecret!;
    const context = await pages().newContext();
    const asked: string[] = [];
    context.on("request", (request) => asked.push(request.url()));
    const page = await pages().open(`/login#${secret}`, context);
    await page.waitForURL(`${url}/`);
    await page.getByRole("banner").getByText("live", { exact: true }).waitFor();
    expect(asked.filter((address) => address.includes(secret) && new URL(address).hash === "")).toEqual([]);
    const kept =
      "JSON.stringify([location.href, history.state, { ...localStorage }, { ...sessionStorage }, document.cookie])";
    expect(await page.evaluate<string>(kept)).not.toContain("cairn_local_");
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
    expect(cookie!.value).not.toBe(secret);
    // Going back shows the secret no more, and another tab is signed in, too.
    await page.goBack().catch(() => undefined);
    expect(page.url()).not.toContain("cairn_local_");
    const other = await pages().open("/access", context);
    await other.getByText("the owner of this machine").waitFor();
  });

  it("A30 Z76 works where the sign-in is open already, and from any other page", async () => {
    const { url, server } = pages();
    const context = await pages().newContext();
    const page = await pages().open("/about", context);
    await page.waitForURL("**/login?next=**");
    await page.evaluate(`location.hash = ${JSON.stringify(server.localSecret)}`);
    await page.waitForURL(`${url}/about`);
    const fresh = await pages().newContext();
    const direct = await pages().open(`/about#${server.localSecret}`, fresh);
    await direct.getByRole("heading", { name: "About" }).first().waitFor();
    await expect.poll(() => direct.url()).toBe(`${url}/about`);
  });

  it("A30 Z76 one of an earlier start is refused with a message, and the sign-in stays", async () => {
    const page = await pages().open(`/login#cairn_local_${"x".repeat(37)}`, await pages().newContext());
    await page.getByRole("alert").getByText("it is not a valid token").waitFor();
    expect(page.url()).toBe(`${pages().url}/login`);
    pages().forgive(REFUSED);
  });
});
