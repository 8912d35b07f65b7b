import { useQuery } from "@tanstack/react-query";
import { ArtifactKind, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import { wordOf } from "#lang/words/enums.ts";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { Download, TriangleAlert } from "../../widgets/icons/icons.ts";
import { EmptyState } from "../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatAgo } from "#lang/words/times.ts";
import { formatBytes } from "#lang/words/numbers.ts";
import { Name } from "../../widgets/name.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { contentPath } from "#lang/content-path.ts";
import { previewKind } from "./artifact-preview-kind.ts";
import { artifactText } from "./artifact-text.ts";
import styles from "./artifact-preview.module.css";
import { mayRunCode } from "./may-run-code.ts";
import { TextPreview } from "./text-preview.tsx";

const METADATA_MAX = 200;

/** One artifact: its metadata, and a preview. */
export function ArtifactPreview({ artifact }: { artifact: Artifact }) {
  const kind = previewKind(artifact);
  const metadata = Object.entries(artifact.metadata).slice(0, METADATA_MAX);
  return (
    <>
      <header className={styles.head}>
        <h2 className={styles.title}>
          <Name text={artifact.name} />
        </h2>
        {kind !== "reference" && (
          <a
            className={styles.download}
            href={contentPath(artifact)}
            download={artifact.name.split("/").at(-1)}
          >
            <Download size={14} aria-hidden /> Download
          </a>
        )}
      </header>
      <dl className={styles.facts}>
        <Fact name="Kind">
          {wordOf(ArtifactKind, artifact.kind)}
          {artifact.step !== undefined && `, step ${artifact.step}`}
        </Fact>
        <Fact name="Type">
          <Name text={artifact.mediaType} />
        </Fact>
        {artifact.sizeBytes !== undefined && (
          <Fact name="Size">{formatBytes(Number(artifact.sizeBytes))}</Fact>
        )}
        <Fact name="Written">{formatAgo(Number(artifact.createdUs))}</Fact>
        {artifact.createdBy !== "" && (
          <Fact name="By">
            <Name text={artifact.createdBy} />
          </Fact>
        )}
        {artifact.sha256 !== "" && (
          <Fact name="SHA-256">
            <code title={artifact.sha256}>{artifact.sha256.slice(0, 16)}</code>
            <CopyButton text={artifact.sha256} label="Copy the SHA-256" />
          </Fact>
        )}
        {metadata.map(([key, value]) => (
          <Fact key={key} name={cutText(visibleText(key), 60)}>
            <Name text={value} mono />
          </Fact>
        ))}
      </dl>
      {mayRunCode(artifact) && (
        <p className={styles.caution}>
          <TriangleAlert size={14} aria-hidden /> Loading this file can run code in it. Load it only if you
          trust its author.
        </p>
      )}
      <div className={styles.body}>
        {kind === "reference" && <Reference uri={artifact.uri} />}
        {kind === "none" && (
          <EmptyState title="No preview of this type">Download it to see its content.</EmptyState>
        )}
        {kind !== "reference" && kind !== "none" && <ArtifactContent artifact={artifact} />}
      </div>
    </>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Not a link, because the address is untrusted. */
function Reference({ uri }: { uri: string }) {
  return (
    <div className={styles.reference}>
      <p className={styles.quiet}>Stored elsewhere; this server only has its address.</p>
      <code>{visibleText(uri)}</code>
      <CopyButton text={uri} label="Copy the address">
        Copy the address
      </CopyButton>
    </div>
  );
}

/** The content, shown by its type. */
export function ArtifactContent({ artifact }: { artifact: Artifact }) {
  const kind = previewKind(artifact);
  const path = contentPath(artifact);
  const name = visibleText(cutText(artifact.name, 200));
  if (kind === "image") return <img className={styles.image} src={path} alt={name} />;
  if (kind === "audio")
    return <audio className={styles.audio} controls preload="metadata" src={path} aria-label={name} />;
  if (kind === "video")
    return <video className={styles.image} controls preload="metadata" src={path} aria-label={name} />;
  return <FetchedContent artifact={artifact} />;
}

function FetchedContent({ artifact }: { artifact: Artifact }) {
  const { data: shown, error, refetch } = useQuery(artifactText(artifact));
  const kind = previewKind(artifact);
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (shown === undefined) return <Skeleton lines={10} />;
  return (
    <TextPreview
      kind={kind}
      text={shown.text}
      name={visibleText(cutText(artifact.name, 200))}
      isCut={shown.isCut}
      sizeBytes={Number(artifact.sizeBytes ?? 0n)}
    />
  );
}
