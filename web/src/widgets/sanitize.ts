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

/** For a frame of its own, where names and classes cannot be taken for ours: what its style sheet goes by stays. */
const FRAME_CONFIG = {
  ...CONFIG,
  FORBID_ATTR: CONFIG.FORBID_ATTR.filter((name) => name !== "class" && name !== "id"),
} satisfies Config;

/** As elements that are in no page; `kept` is an attribute with any text that stays, too. */
export function sanitizeForFrame(markup: string, kept: string): HTMLElement {
  return purifier.sanitize(markup, {
    ...FRAME_CONFIG,
    ADD_ATTR: [kept],
    ADD_URI_SAFE_ATTR: [kept],
    RETURN_DOM: true,
  }) as HTMLElement;
}

export function sanitize(markup: string): string {
  return purifier.sanitize(markup, CONFIG);
}
