import { usePrepared } from "../../prepare/use-prepared.ts";
import { PlainText } from "../../widgets/texts/plain-text.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import styles from "./artifact-preview.module.css";
import { useBlobUrl } from "./use-blob-url.ts";

/** A picture made of elements: shown once it is known how many, and exactly the text of which that is known. */
export function SvgPreview({ text, name }: { text: string; name: string }) {
  const outcome = usePrepared("svg", text);
  const isShown = outcome !== undefined && "value" in outcome;
  const url = useBlobUrl(isShown ? text : undefined, "image/svg+xml");
  if (outcome !== undefined && "refused" in outcome)
    return <PlainText text={text} refused={outcome.refused} />;
  return url === undefined ? <Skeleton lines={10} /> : <img className={styles.image} src={url} alt={name} />;
}
