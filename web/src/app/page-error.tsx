import { useRouter } from "@tanstack/react-router";
import { Failure } from "#sdk/failure.ts";
import { Button } from "../widgets/button.tsx";
import { Notice } from "../widgets/notices/notice.tsx";
import { pageHint } from "../widgets/notices/page-hint.ts";
import { SignInLink } from "../widgets/notices/sign-in-link.tsx";

/** In place of a page that failed: what happened and what to do. */
export function PageError({ error }: { error: unknown }) {
  const router = useRouter();
  if (isOldPage(error)) {
    return (
      <Notice title="A new version is available">
        <p>
          The server was updated since this page was opened. Reload to use the new version; no data is lost.
        </p>
        <Button primary onClick={() => location.reload()}>
          Reload
        </Button>
      </Notice>
    );
  }
  const failure = Failure.from(error, location.origin);
  const hint = pageHint(failure);
  return (
    <Notice title="This page could not be shown" tone="bad">
      <p>{failure.message}</p>
      {hint !== "" && <p>{hint}</p>}
      {failure.needsCredential && (
        <p>
          <SignInLink />
        </p>
      )}
      <Button onClick={() => void router.invalidate()}>Try again</Button>
    </Notice>
  );
}

/** The errors of browsers, and of our loader of styles, for a part of the pages that does not exist any more. */
function isOldPage(error: unknown): boolean {
  return (
    error instanceof Error &&
    /dynamically imported module|Importing a module script failed|Unable to preload CSS/i.test(error.message)
  );
}
