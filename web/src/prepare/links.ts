const PICTURES = /^data:image\/(?:png|jpeg|gif|webp);base64,/i;
const LINKS = /^(?:https?:|mailto:|#|\/(?![/\\]))/i;

/** A link of a user opens a page, and never runs code. */
export function isSafeLink(address: string): boolean {
  return LINKS.test(address);
}

/** Only an embedded picture: any other would reveal the reader to its server. */
export function isSafePicture(address: string): boolean {
  return PICTURES.test(address);
}

export function pictureWords(alt: string, address: string): string {
  return `[picture: ${alt || address.slice(0, 200)}]`;
}
