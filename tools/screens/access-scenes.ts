import type { Page } from "playwright-core";
import type { Scene, Visit } from "./scenes.ts";

/** A user without a role on the server where a sign-in is required. */
export const NEWCOMER = { name: "noor", password: "correct horse battery" } as const;

async function signIn(page: Page, { token }: Visit): Promise<void> {
  await page.getByRole("textbox", { name: "Token" }).fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("tab", { selected: true }).waitFor();
}

/** On a server that requires a sign-in. */
export const ACCESS: readonly Scene[] = [
  {
    name: "login",
    about: "Signing in",
    stage: "closed",
    path: "/",
    act: (page) => page.getByRole("textbox", { name: "Token" }).waitFor(),
  },
  {
    name: "access-tokens",
    about: "Tokens",
    stage: "closed",
    path: "/access?tab=tokens",
    act: signIn,
  },
  {
    name: "access-scopes",
    about: "Roles and permissions, with explanations",
    stage: "closed",
    path: "/access?tab=scopes&scope=demo/translation/confidential",
    act: signIn,
  },
  {
    name: "access-people",
    about: "Users, groups and services",
    stage: "closed",
    path: "/access?tab=people",
    act: signIn,
  },
  {
    name: "access-new-user",
    part: "dialog",
    about: "A new user, with a first role",
    stage: "closed",
    path: "/access?tab=people",
    async act(page, visit) {
      await signIn(page, visit);
      await page.getByRole("button", { name: "New …" }).click();
      await page.getByRole("dialog").getByRole("combobox", { name: "Role" }).click();
      await page.getByRole("option", { name: "writer" }).click();
      await page.getByRole("dialog").getByRole("combobox", { name: "On" }).waitFor();
    },
  },
  {
    name: "no-role",
    about: "A user without a role: whom to ask, and for what",
    stage: "closed",
    path: "/",
    async act(page) {
      await page.getByRole("tab", { name: "Password" }).click();
      await page.getByRole("textbox", { name: "Name" }).fill(NEWCOMER.name);
      await page.getByRole("textbox", { name: "Password" }).fill(NEWCOMER.password);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: /You have no role/ }).waitFor();
    },
  },
  {
    name: "access-audit",
    about: "The audit",
    stage: "closed",
    path: "/access?tab=audit",
    act: signIn,
  },
];
