import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactArgs } from "./secret-args.ts";
import { isSecretName } from "./secret-names.ts";
import { REDACTED } from "./secret-rules.ts";
import { redactText, redactUrl } from "./secrets.ts";
import { cpuMs } from "#base/cpu-ms.ts";

/** Put together here, so that no scanner takes this file for a leak. */
const join = (...parts: string[]) => parts.join("");
const GITHUB = join("ghp_", "a1B2".repeat(9));
const CAIRN = join("cairn_", "Ab_-3".repeat(8), "abc");
const OPENAI = join("sk-proj-", "x9".repeat(20));
const AWS = join("AKIA", "IOSFODNN7EXAMPLE");
const JWT = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "c2lnbmF0dXJl-_x"].join(".");
const HF = join("hf_", "Qw3".repeat(11));
const PEM = [
  "-----BEGIN OPENSSH PRIVATE KEY-----",
  "b3BlbnNzaC1rZXk",
  "-----END OPENSSH PRIVATE KEY-----",
].join("\n");

describe("isSecretName", () => {
  it.each(
    `--token HF_TOKEN token --api-key apiKey API_KEY OPENAI_API_KEY hubAPIKey --auth --auth-token AWS_SECRET_ACCESS_KEY
     aws_access_key_id password --db.password DB_PASSWD passphrase user_pass MYSQL_PWD --pwd credentials
     GOOGLE_APPLICATION_CREDENTIALS private_key --ssh-key session_cookie SENTRY_DSN SLACK_WEBHOOK CAIRN_TOKEN
     optim.secret --private db_pass client_secret sharedAccessSignature access-token refreshToken sig X-Amz-Signature WANDB_API_KEY`.split(
      /\s+/,
    ),
  )("C22 knows %s", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each(
    `--lr --epochs tokenizer --max-tokens num_tokens pad_token eos_token_id --token-dim maxTokens tokens_per_batch
     --sort-key key keys author authors --passes compass monkey keyboard hidden privacy tokenizer.name
     PWD --pin-memory pin_memory pass_rate forward_pass --private-epsilon signature_dim secretary PATH --signal design pinned cls_token --image_token max_new_tokens`.split(
      /\s+/,
    ),
  )("C22 leaves %s alone", (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe("redactArgs", () => {
  const cases: [before: string[], after: string[]][] = [
    [
      ["train", "--lr", "0.1", "--token", "x"],
      ["train", "--lr", "0.1", "--token", REDACTED],
    ],
    [["--token=x"], [`--token=${REDACTED}`]],
    [["--token=a=b c"], [`--token=${REDACTED}`]],
    [
      ["-token", "x"],
      ["-token", REDACTED],
    ],
    [["HF_TOKEN=x"], [`HF_TOKEN=${REDACTED}`]],
    [["+hub.api_key=x"], [`+hub.api_key=${REDACTED}`]],
    [["--set=auth.token=x"], [`--set=auth.token=${REDACTED}`]],
    [
      ["--password", "-hunter2"],
      ["--password", REDACTED],
    ],
    [
      ["--password", "--verbose"],
      ["--password", "--verbose"],
    ],
    [
      ["--password", "--verbose", "x"],
      ["--password", "--verbose", "x"],
    ],
    [
      ["--no-auth", "x"],
      ["--no-auth", "x"],
    ],
    [
      ["--max-tokens", "512", "--pad_token=[PAD]"],
      ["--max-tokens", "512", "--pad_token=[PAD]"],
    ],
    [
      ["--config", '{"lr": 0.1, "api_key": "a b"}'],
      ["--config", `{"lr": 0.1, "api_key": "${REDACTED}"}`],
    ],
    [
      ["--config", `{'password':'x'}`],
      ["--config", `{'password':'${REDACTED}'}`],
    ],
    [
      ["-H", "Authorization: Bearer abcdef123"],
      ["-H", `Authorization: ${REDACTED}`],
    ],
    [
      ["curl", "-u", "me:pw", "x"],
      ["curl", "-u", REDACTED, "x"],
    ],
    [
      ["/usr/bin/mysql", "-phunter2", "-p", "hunter2"],
      ["/usr/bin/mysql", `-p${REDACTED}`, "-p", REDACTED],
    ],
    [
      ["serve", "-p", "8080"],
      ["serve", "-p", "8080"],
    ],
    [
      [GITHUB, "x"],
      [REDACTED, "x"],
    ],
    [[`--x=${OPENAI}`], [`--x=${REDACTED}`]],
    [["postgres://me:pw@db/x?sslmode=on"], [`postgres://${REDACTED}@db/x?sslmode=on`]],
    [
      ["--dsn", "host=db password=pw user=me"],
      ["--dsn", REDACTED],
    ],
    [["host=db password=pw user=me"], [`host=db password=${REDACTED} user=me`]],
    [
      ["--data", "a;b", "é=ü", ""],
      ["--data", "a;b", "é=ü", ""],
    ],
    [['{"credentials": {"user": "a", "list": ["b"]}, "c": 1}'], [`{"credentials": ${REDACTED}, "c": 1}`]],
    [["password: correct horse battery"], [`password: ${REDACTED}`]],
    [["{lr: 1, secret: a b, c: 2}"], [`{lr: 1, secret: ${REDACTED}, c: 2}`]],
    [['x token="a secret=b" y'], [`x token="${REDACTED}" y`]],
    [['{"lr": 1, "auth": {"secret": "x", "password": "y"}}'], [`{"lr": 1, "auth": ${REDACTED}}`]],
  ];
  it.each(cases)("C22 %j becomes %j", (before, after) => {
    expect(redactArgs(before)).toEqual(after);
  });
});

describe("redactUrl", () => {
  it.each([
    ["https://me:pw@github.com/a/b.git", "https://github.com/a/b.git"],
    [`https://${GITHUB}@github.com/a/b`, "https://github.com/a/b"],
    [`https://x-access-token:${GITHUB}@github.com/a/b`, "https://github.com/a/b"],
    ["https://me:p%40w@host:8443/a", "https://host:8443/a"],
    ["ssh://git@host:22/a/b", "ssh://git@host:22/a/b"],
    ["ssh://git:pw@host/a", "ssh://host/a"],
    ["git+https://oauth2:x@gitlab.com/a.git#main", "git+https://gitlab.com/a.git#main"],
    ["git@github.com:a/b.git", "git@github.com:a/b.git"],
    ["/srv/git/a.git", "/srv/git/a.git"],
    ["https://host/a?access_token=x&b=c", `https://host/a?access_token=${REDACTED}&b=c`],
    ["https://host/a?sv=1&sig=x%2By", `https://host/a?sv=1&sig=${REDACTED}`],
    ["https://host/a?X-Amz-Signature=00ff", `https://host/a?X-Amz-Signature=${REDACTED}`],
    ["https://host/a#token=x", `https://host/a#token=${REDACTED}`],
    ["https://host/people@work", "https://host/people@work"],
    ["https://me:a/b?c#d@host/e", "https://host/e"],
    ["https://host:8080/a@b", "https://host:8080/a@b"],
    ["HTTPS://ME:PW@HOST/a", "HTTPS://HOST/a"],
  ])("C22 %s becomes %s", (before, after) => {
    expect(redactUrl(before)).toBe(after);
  });
});

describe("redactText", () => {
  it.each([GITHUB, CAIRN, OPENAI, AWS, JWT, HF, PEM])("C22 redacts %j anywhere", (secret) => {
    for (const text of [secret, `a ${secret} b`, `x="${secret}"`, `--x=${secret},y`, `(${secret})`]) {
      expect(redactText(text)).not.toContain(secret);
      expect(redactText(text)).toContain(REDACTED);
    }
  });

  it("C22 is fast for a long hostile text", () => {
    const started = cpuMs();
    for (const piece of ["a.", "token=", '"a":', "https://", "eyJ", "a=", "x@", "-", "'\\", "-----BEGIN "]) {
      redactText(piece.repeat(20_000));
    }
    expect(cpuMs() - started).toBeLessThan(5_000);
  });

  it("C22 leaves ordinary text as it is", () => {
    for (const text of ["lr=0.1", "a: b", "step 3/10: loss=0.3 acc=0.9", "C:\\x", "s3://bucket/key", "12:30"])
      expect(redactText(text)).toBe(text);
  });

  it("C22 redacts every planted value under a secret name", () => {
    const secret = fc
      .string({
        minLength: 6,
        maxLength: 40,
        unit: fc.constantFrom(..."abcdefXYZ0123456789_~+/.%".split("")),
      })
      .map((text) => `Zq${text}`);
    const name = fc.constantFrom("token", "api-key", "db.password", "CLIENT_SECRET", "authToken");
    const form = fc.constantFrom<(n: string, s: string) => string[]>(
      (n, s) => [`--${n}`, s],
      (n, s) => [`--${n}=${s}`],
      (n, s) => [`${n}=${s}`],
      (n, s) => [`{"${n}":"${s}"}`],
      (n, s) => [`{"a":{"${n}": "${s}", "b":1}}`],
      (n, s) => [`https://host/x?${n}=${s}`],
      (n, s) => [`--set`, `a=1,${n}=${s}`],
      (n, s) => [`--url=https://${encodeURIComponent(s)}@host/${n}`],
      (n, s) => [`--url`, `https://me:${s}@host/${n}`],
    );
    const plain = fc.array(fc.constantFrom("train.ts", "--lr", "0.1", "-v", "--name=x", "data=a,b"), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(plain, form, name, secret, plain, (before, make, n, s, after) => {
        const clean = redactArgs([...before, ...make(n, s), ...after]);
        expect(clean.join("\n")).not.toContain(s);
        expect(clean.join("\n")).not.toContain(encodeURIComponent(s));
        expect(clean.slice(0, before.length)).toEqual(before);
        expect(clean.slice(clean.length - after.length)).toEqual(after);
      }),
      { numRuns: 1000 },
    );
  });
});
