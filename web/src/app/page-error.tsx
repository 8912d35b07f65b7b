import { useRouter } from "@tanstack/react-router";
import { Failure } from "#sdk/failure.ts";
import { Button } from "../widgets/button.tsx";
import { Notice } from "../widgets/notices/notice.tsx";

/** In place of a page that failed: what happened and what to do. */
export function PageError({ error }: { error: unknown }) {
  const router = useRouter();
  if (isOldPage(error)) {
    return (
      <Notice title="These pages are of an earlier version">
        <p>The server has a new one since they were opened. Nothing is lost by loading them again.</p>
        <Button primary onClick={() => location.reload()}>
          Load again
        </Button>
      </Notice>
    );
  }
  const { message, hint } = Failure.from(error, location.origin);
  return (
    <Notice title="This page could not be shown" tone="bad">
      <p>{message}</p>
      {hint !== "" && <p>{hint}</p>}
      <Button onClick={() => void router.invalidate()}>Try again</Button>
    </Notice>
  );
}

/** How browsers, and our loader of styles, say that a part of the pages is not there any more. */
function isOldPage(error: unknown): boolean {
  return (
    error instanceof Error &&
    /dynamically imported module|Importing a module script failed|Unable to preload CSS/i.test(error.message)
  );
}
