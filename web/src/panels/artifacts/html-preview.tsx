import { useMemo } from "react";
import { frameDocument } from "../../prepare/page-styles.ts";
import type { FramePage } from "../../prepare/prepared.ts";
import { usePrepared } from "../../prepare/use-prepared.ts";
import { PlainText } from "../../widgets/texts/plain-text.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import styles from "./artifact-preview.module.css";
import { useBlobUrl } from "./use-blob-url.ts";

/** An HTML page of a user, in a frame without permissions, after everything that runs or loads was removed. */
export function HtmlPreview({ text }: { text: string }) {
  const outcome = usePrepared("html", text);
  if (outcome === undefined) return <Skeleton lines={10} />;
  if ("refused" in outcome) return <PlainText text={text} refused={outcome.refused} />;
  return <PageFrame page={outcome.value} />;
}

/**
 * Its styles need the nonce of our page, whose policy the frame inherits; the frame's own policy limits what they may
 * load.
 */
function PageFrame({ page }: { page: FramePage }) {
  const content = useMemo(() => {
    const nonce = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";
    return frameDocument(page, nonce);
  }, [page]);
  const url = useBlobUrl(content, "application/xhtml+xml");
  return (
    <>
      <p className={styles.quiet}>
        Shown without scripts and external content. Download it to see the original page.
      </p>
      {url !== undefined && (
        <iframe
          key={url}
          className={styles.frame}
          sandbox=""
          src={url}
          title="Content of the page"
          referrerPolicy="no-referrer"
        />
      )}
    </>
  );
}
