const PICTURES = /^data:image\/(?:png|jpeg|gif|webp);base64,/i;
const LINKS = /^(?:https?:|mailto:|#|\/(?![/\\]))/i;

/** A link of a user leads to a page, and never runs anything. */
export function isSafeLink(address: string): boolean {
  return LINKS.test(address);
}

/** Only a picture that is in the text itself: any other would let its server know who looks at the page. */
export function isSafePicture(address: string): boolean {
  return PICTURES.test(address);
}

export function pictureWords(alt: string, address: string): string {
  return `[picture: ${alt || address.slice(0, 200)}]`;
}
