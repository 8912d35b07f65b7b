import { describe, expect, it } from "vitest";
import { isSecretFile, isSecretFolder } from "./secret-files.ts";

describe("isSecretFile", () => {
  it("C27 knows them by their names", () => {
    const names = `.env .env.local .ENV.production prod.env .envrc server.pem tls.KEY id_rsa id_ed25519.bak credentials
      credentials.json my-credentials.json .netrc .npmrc secrets.yaml secret.toml terraform.tfstate kaggle.json`;
    for (const name of names.split(/\s+/)) expect(isSecretFile(name), name).toBe(true);
    for (const name of [".ssh", ".aws", ".GnuPG"]) expect(isSecretFolder(name), name).toBe(true);
  });

  it("C27 leaves others alone", () => {
    const names = `train.ts env.ts environment.yml keys.ts monkey keyboard.py secretary.py tokens.txt tokenizer.json
      my.envelope token.py secrets.ts credentials.py config.json credential_form.tsx`;
    for (const name of names.split(/\s+/)) expect(isSecretFile(name), name).toBe(false);
    expect(isSecretFolder("ssh")).toBe(false);
  });
});
