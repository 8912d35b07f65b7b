import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** Stands where the server puts the nonce of an answer. */
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
    target: "es2024",
    // An image in the script would need a policy that allows images from anywhere.
    assetsInlineLimit: 0,
    sourcemap: false,
    modulePreload: { polyfill: false },
  },
});
