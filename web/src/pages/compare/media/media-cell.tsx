import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { ArtifactKind, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import { formatBytes, formatCount } from "#lang/words/numbers.ts";
import { visibleText } from "../../../prepare/visible-text.ts";
import { contentPath } from "#lang/content-path.ts";
import { previewKind } from "../../../panels/artifacts/artifact-preview-kind.ts";
import { ArtifactContent } from "../../../panels/artifacts/artifact-preview.tsx";
import { artifactText } from "../../../panels/artifacts/artifact-text.ts";
import { MediaPicture } from "../../../panels/artifacts/media-picture.tsx";
import { readPicture } from "../../../panels/artifacts/picture-data.ts";
import styles from "./media-panel.module.css";

/** One picture, sound or text, and at what step it was logged. */
export function MediaCell({ artifact, runName }: { artifact: Artifact | undefined; runName: string }) {
  if (artifact === undefined) {
    return (
      <span className={styles.none} title="nothing up to this step">
        —
      </span>
    );
  }
  const { kind, step, sizeBytes } = artifact;
  const path = contentPath(artifact);
  const words = `${visibleText(artifact.name)} of ${visibleText(runName)}`;
  return (
    <figure className={styles.figure}>
      {kind === ArtifactKind.IMAGE && previewKind(artifact) !== "svg" ? (
        <Picture key={path} path={path} words={words} />
      ) : kind === ArtifactKind.AUDIO ? (
        <audio controls preload="none" src={path} aria-label={words} />
      ) : (
        <OnceSeen key={path} artifact={artifact} />
      )}
      <figcaption>
        {step === undefined ? "no step" : `step ${formatCount(Number(step))}`}
        {sizeBytes !== undefined && ` · ${formatBytes(Number(sizeBytes))}`}
      </figcaption>
    </figure>
  );
}

/** Smaller pictures are enlarged without smoothing. */
const SMALL_PX = 256;

function Picture({ path, words }: { path: string; words: string }) {
  const [state, setState] = useState<"large" | "small" | "broken">("large");
  if (state === "broken") return <span className={styles.none}>The browser cannot show this image.</span>;
  return (
    <img
      src={path}
      alt={words}
      loading="lazy"
      className={state === "small" ? styles.small : undefined}
      onLoad={({ currentTarget }) => setState(currentTarget.naturalWidth < SMALL_PX ? "small" : "large")}
      onError={() => setState("broken")}
    />
  );
}

/** Loaded only when it scrolls into view, because there may be thousands. */
function OnceSeen({ artifact }: { artifact: Artifact }) {
  const [isSeen, setSeen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isSeen) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, [isSeen]);
  return (
    <div ref={place} className={styles.content}>
      {isSeen && <Content artifact={artifact} />}
    </div>
  );
}

/** As a picture where it is one, such as a confusion matrix. */
function Content({ artifact }: { artifact: Artifact }) {
  const { data } = useQuery({ ...artifactText(artifact), enabled: previewKind(artifact) === "json" });
  const picture = useMemo(() => (data === undefined ? undefined : readPicture(data.text)), [data]);
  return picture === undefined ? <ArtifactContent artifact={artifact} /> : <MediaPicture picture={picture} />;
}
