// Marks that turn the direction of text or hide in it make a name look like another one.
const DECEPTIVE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * `content-disposition` of a download (RFC 6266): the last part of the name, for old clients in ASCII and for
 * all others in UTF-8 (RFC 5987).
 */
export function dispositionOf(name: string): string {
  const file = name.slice(name.lastIndexOf("/") + 1).replace(DECEPTIVE, "_");
  const ascii = file.replaceAll(/[^\x20-\x7e]/g, "_").replaceAll(/["\\%]/g, "_");
  const encoded = encodeURIComponent(file).replaceAll(
    /['()*!]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
