import { Link } from "@tanstack/react-router";
import { Check, Minus, Search } from "../../../widgets/icons/icons.ts";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import type { ProvenancePart, ProvenanceValue } from "./provenance-parts.ts";
import styles from "./provenance.module.css";

const VALUES_MAX = 50;
const VALUE_LENGTH_MAX = 2_000;

/** What is recorded and what is missing, one part to a row. */
export function PartTable({ parts, namespace }: { parts: readonly ProvenancePart[]; namespace: string }) {
  return (
    <table className={styles.parts}>
      <tbody>
        {parts.map(({ name, values, missing }) => (
          <tr key={name} className={values.length > 0 ? undefined : styles.missing}>
            <td className={styles.tick}>
              {values.length > 0 ? (
                <Check size={14} role="img" aria-label="recorded" />
              ) : (
                <Minus size={14} role="img" aria-label="not recorded" />
              )}
            </td>
            <th scope="row">{name}</th>
            <td className={styles.values}>
              {values.length === 0 && missing}
              {values.slice(0, VALUES_MAX).map((value, i) => (
                <Value key={i} value={value} name={name} namespace={namespace} />
              ))}
              {values.length > VALUES_MAX && <span>and {values.length - VALUES_MAX} more</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({
  value: { text, version, href, query },
  name,
  namespace,
}: {
  value: ProvenanceValue;
  name: string;
  namespace: string;
}) {
  const shown = visibleText(cutText(text, VALUE_LENGTH_MAX));
  const label = `Runs with this ${name.toLowerCase()}`;
  return (
    <span className={styles.value}>
      <code>
        {href === undefined ? (
          shown
        ) : (
          <a href={href} target="_blank" rel="noopener noreferrer nofollow">
            {shown}
          </a>
        )}
        {version !== undefined && (
          <span className={styles.version}>{visibleText(cutText(version, VALUE_LENGTH_MAX))}</span>
        )}
      </code>
      {query !== undefined && (
        <Link
          to="/n/$"
          params={{ _splat: namespace }}
          search={{ q: query }}
          className={styles.same}
          aria-label={label}
          title={label}
        >
          <Search size={12} aria-hidden />
        </Link>
      )}
    </span>
  );
}
