import { describe, expect, it } from "vitest";
import { knownSecretRedactor } from "./known-secrets.ts";

describe("knownSecretRedactor", () => {
  it("C39 redacts values of variables with the name of a secret, as they are and in a URL", () => {
    const redact = knownSecretRedactor({
      HF_TOKEN: "a-b/c d+e",
      HF_TOKEN_OLD: "a-b/c d+e and more",
      GREEN_TOKEN: "grün-8Zq1x",
      SSH_KEY: "-----BEGIN x-----\nfirst-line-of-it\nsecond-line\n-----END x-----",
      TEAM_WEBHOOK: "https://host/hook/1234",
    });
    expect(redact("x a-b/c d+e and more, a-b/c d+e, a-b%2Fc%20d%2Be")).toBe(
      "x [redacted], [redacted], [redacted]",
    );
    expect(redact("first-line-of-it")).toBe("[redacted]");
    expect(redact(Buffer.from("grün-8Zq1x").toString("latin1"))).toBe("[redacted]");
    expect(redact("to https://host/hook/1234")).toBe("to [redacted]");
  });

  it("C39 leaves short values, ordinary words, paths and addresses alone", () => {
    const values = {
      A_TOKEN: "short",
      B_TOKEN: "training",
      C_PASSWORD: "Password",
      GOOGLE_APPLICATION_CREDENTIALS: "/home/ada/key.json",
      SSH_AUTH_SOCK: "/tmp/ssh-x/agent.1",
      AUTH_URL: "https://login.example.org/x",
      D_SECRET: "${OTHER_SECRET}",
      PATH: "/usr/bin:/bin",
      EDITOR: "some-editor",
    };
    const text = Object.values(values).join(" ");
    expect(knownSecretRedactor(values)(text)).toBe(text);
  });
});
