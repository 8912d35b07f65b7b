import { describe, expect, it } from "vitest";
import { redactPatch } from "./patch.ts";
import { REDACTED } from "./secrets/secret-rules.ts";

const HEAD = `diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n`;

describe("redactPatch", () => {
  const changed: [before: string, after: string][] = [
    [`+API_KEY = "abcd1234efgh"\n`, `+API_KEY = "${REDACTED}"\n`],
    [`-  password: 'hunter2hunter2'\n`, `-  password: '${REDACTED}'\n`],
    [` token=Ab3dEf6hIj9kLm\n`, ` token=${REDACTED}\n`],
    [`+url = "https://me:pw@host/x"\n`, `+url = "https://${REDACTED}@host/x"\n`],
    [`+x = "${["ghp", "a1B2".repeat(9)].join("_")}"\n`, `+x = "${REDACTED}"\n`],
    [
      `+-----BEGIN RSA PRIVATE KEY-----\n+MIIEow\n+abc=\n+-----END RSA PRIVATE KEY-----\n+after = 1\n`,
      `+${REDACTED}\n+${REDACTED}\n+${REDACTED}\n+-----END RSA PRIVATE KEY-----\n+after = 1\n`,
    ],
    [
      `@@ -7,3 +7,3 @@\n MIIEow\n-abc=\n+abd=\n -----END RSA PRIVATE KEY-----\n`,
      `@@ -7,3 +7,3 @@\n ${REDACTED}\n-${REDACTED}\n+${REDACTED}\n -----END RSA PRIVATE KEY-----\n`,
    ],
  ];
  it.each(changed)("C27 makes of %j %j", (before, after) => {
    expect(redactPatch(HEAD + before)).toEqual({ text: HEAD + after, isChanged: true });
  });

  it("C27 leaves code alone", () => {
    const code = [
      "+token = tokenizer.next_token()",
      "+password = getpass()",
      '+pad_token = "<pad>"',
      '+secret = "please"',
      "+private key: str | None = None",
      "+auth = Bearer",
      "+author: John12 Doe",
      "+for token in tokens: print(token)",
      "+expect(cairn_connections_refused_by_somebody)",
    ].join("\n");
    expect(redactPatch(HEAD + code)).toEqual({ text: HEAD + code, isChanged: false });
  });

  it("C27 leaves binary changes alone, and redacts what follows them", () => {
    const binary = `diff --git a/m b/m\nGIT binary patch\nliteral 9\nQcmZQzWMXDvVc-D(0tEmJ\n\nliteral 5\nMcmZQzWMT#Y01f~L\n\n`;
    const secret = `+k = "https://me:pw@host"\n`;
    expect(redactPatch(binary + HEAD + secret).text).toBe(
      `${binary}${HEAD}+k = "https://${REDACTED}@host"\n`,
    );
    const disguised = `${HEAD}+GIT binary patch\n+literal 3\n${secret}`;
    expect(redactPatch(disguised).text).not.toContain("pw@");
  });

  it("C27 keeps every line", () => {
    const text = HEAD + changed.map(([before]) => before).join("");
    const clean = redactPatch(text).text;
    expect(clean.split("\n").length).toBe(text.split("\n").length);
    expect(clean.split("\n").map((line) => line[0])).toEqual(text.split("\n").map((line) => line[0]));
  });
});
