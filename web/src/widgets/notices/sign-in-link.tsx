/** A link to the sign-in, which leads back to this page. It is nothing on the sign-in page itself. */
export function SignInLink() {
  const { pathname, search, hash } = location;
  if (pathname === "/login") return null;
  const here = pathname + search + hash;
  return <a href={here === "/" ? "/login" : `/login?next=${encodeURIComponent(here)}`}>Sign in</a>;
}
