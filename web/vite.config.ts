import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** A placeholder for the nonce that the server inserts. */
export const NONCE_MARK = "CAIRN-NONCE";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/",
  html: { cspNonce: NONCE_MARK },
  publicDir: false,
  logLevel: "error",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    // Packages pass it on beside the pages.
    license: { fileName: "licenses.md" },
    target: "es2024",
    // An image in the script would need a policy that allows images from anywhere.
    assetsInlineLimit: 0,
    sourcemap: false,
    modulePreload: { polyfill: false },
  },
});
