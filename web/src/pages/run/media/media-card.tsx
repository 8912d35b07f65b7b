import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { ArtifactKind, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { Name } from "../../../widgets/name.tsx";
import { Skeleton } from "../../../widgets/notices/skeleton.tsx";
import { ArtifactContent } from "../../../panels/artifacts/artifact-preview.tsx";
import { previewKind } from "../../../panels/artifacts/artifact-preview-kind.ts";
import { artifactText } from "../../../panels/artifacts/artifact-text.ts";
import { HistogramOverSteps } from "./histogram-over-steps.tsx";
import { MediaPicture } from "../../../panels/artifacts/media-picture.tsx";
import styles from "./media.module.css";
import { readPicture } from "../../../panels/artifacts/picture-data.ts";
import { TextPreview } from "../../../panels/artifacts/text-preview.tsx";

/** One key at a step; `step` is the requested one, which it may not have. */
export function MediaCard({
  artifact,
  step,
  versions,
}: {
  artifact: Artifact;
  step: number;
  /** Of all steps. */
  versions: readonly Artifact[];
}) {
  const kind = previewKind(artifact);
  const isOther = artifact.step !== undefined && Number(artifact.step) !== step;
  return (
    <section className={styles.card} aria-label={artifact.name.slice(0, 200)}>
      <header className={styles.head}>
        <Link
          to="/r/$run"
          params={{ run: artifact.runId }}
          search={{
            tab: "artifacts",
            artifact: artifact.name,
            ...(artifact.step !== undefined && { step: Number(artifact.step) }),
          }}
        >
          <Name text={artifact.name} />
        </Link>
        {isOther && <span className={styles.quiet}>from step {String(artifact.step)}</span>}
        {artifact.step === undefined && <span className={styles.quiet}>no step</span>}
      </header>
      <div className={styles.body}>
        {kind === "reference" && <span className={styles.quiet}>Kept elsewhere.</span>}
        {kind === "none" && <span className={styles.quiet}>No preview of this type.</span>}
        {kind === "json" ? (
          <JsonMedia artifact={artifact} />
        ) : (
          kind !== "reference" && kind !== "none" && <ArtifactContent artifact={artifact} />
        )}
        {artifact.kind === ArtifactKind.HISTOGRAM && versions.length > 1 && (
          <HistogramOverSteps versions={versions} />
        )}
      </div>
    </section>
  );
}

function JsonMedia({ artifact }: { artifact: Artifact }) {
  const { data, error, refetch } = useQuery({
    ...artifactText(artifact),
    placeholderData: (before) => before,
  });
  const picture = useMemo(() => (data === undefined ? undefined : readPicture(data.text)), [data]);
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={4} height={40} />;
  if (picture === undefined)
    return (
      <TextPreview
        kind="json"
        text={data.text}
        name={artifact.name.slice(0, 200)}
        isCut={data.isCut}
        sizeBytes={Number(artifact.sizeBytes ?? 0n)}
      />
    );
  return <MediaPicture picture={picture} />;
}
