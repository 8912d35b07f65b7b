/** As the server prints it at its start: behind the "#", which browsers keep to themselves. */
const LINK = /^#(cairn_local_[\w-]{37})$/;

let held: string | undefined;

/** Takes the secret of a link out of the address, before anything else of the page sees or keeps the address. */
export function holdLinkSecret(): void {
  const found = LINK.exec(location.hash)?.[1];
  if (found === undefined) return;
  held = found;
  history.replaceState(history.state, "", location.pathname + location.search);
}

/** The secret of the link that led here, once. */
export function takeLinkSecret(): string | undefined {
  holdLinkSecret();
  const secret = held;
  held = undefined;
  return secret;
}
