import { usePrepared } from "../../prepare/use-prepared.ts";
import { PlainText } from "../../widgets/texts/plain-text.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import styles from "./artifact-preview.module.css";
import { useBlobUrl } from "./use-blob-url.ts";

/** An SVG picture, shown once its elements are counted, from exactly the text that was counted. */
export function SvgPreview({ text, name }: { text: string; name: string }) {
  const outcome = usePrepared("svg", text);
  const isShown = outcome !== undefined && "value" in outcome;
  const url = useBlobUrl(isShown ? text : undefined, "image/svg+xml");
  if (outcome !== undefined && "refused" in outcome)
    return <PlainText text={text} refused={outcome.refused} />;
  return url === undefined ? <Skeleton lines={10} /> : <img className={styles.image} src={url} alt={name} />;
}
