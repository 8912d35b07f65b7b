/** For a person whose program has no token that the server accepts. */
export function signInHint(url: string): string {
  return `log in with \`cairn login ${url}\`, or set CAIRN_TOKEN`;
}
