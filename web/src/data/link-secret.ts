/** As the server prints it at its start: after the "#", which browsers do not send. */
const LINK = /^#(cairn_(?:local_[\w-]{37}|link_[\w-]{38}))$/;

let held: string | undefined;

/** Removes the secret of a link from the address, before any other code of the page reads or stores the address. */
export function holdLinkSecret(): void {
  const found = LINK.exec(location.hash)?.[1];
  if (found === undefined) return;
  held = found;
  history.replaceState(history.state, "", location.pathname + location.search);
}

/** The secret of the link that opened this page; returned only once. */
export function takeLinkSecret(): string | undefined {
  holdLinkSecret();
  const secret = held;
  held = undefined;
  return secret;
}
