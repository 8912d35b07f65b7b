import DOMPurify, { type Config } from "dompurify";

/**
 * Markup of strangers. Nothing of it may run, load from elsewhere, or look like part of our page: no scripts, styles, forms and frames, and no picture that would tell
 * somebody elsewhere that the page was looked at. Links open elsewhere and tell nobody where from.
 */
const CONFIG = {
  USE_PROFILES: { html: true },
  FORBID_TAGS: [
    "style",
    "form",
    "input",
    "button",
    "select",
    "textarea",
    "video",
    "audio",
    "source",
    "track",
    "dialog",
    "details",
  ],
  FORBID_ATTR: ["style", "class", "id", "name", "srcset", "background", "ping"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
} satisfies Config;

const PICTURES = /^data:image\/(?:png|jpeg|gif|webp);base64,/i;
const LINKS = /^(?:https?:|mailto:|#|\/(?![/\\]))/i;

const purifier = DOMPurify();
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "IMG" && !PICTURES.test(node.getAttribute("src") ?? "")) {
    const words = document.createElement("span");
    words.textContent = `[picture: ${node.getAttribute("alt") || (node.getAttribute("src") ?? "")}]`;
    node.replaceWith(words);
  }
  if (node.tagName === "A") {
    if (!LINKS.test(node.getAttribute("href") ?? "")) node.removeAttribute("href");
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
});

export function sanitize(markup: string): string {
  return purifier.sanitize(markup, CONFIG);
}
