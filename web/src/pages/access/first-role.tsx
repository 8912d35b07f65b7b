import { useQuery } from "@tanstack/react-query";
import { namespaces } from "../../data/queries.ts";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { Select } from "../../widgets/fields/select.tsx";
import { ROLE_CHOICES, type RoleChoice } from "./access-data.ts";
import styles from "./access.module.css";

const PATH_MAX = 60;
const ROLES = [{ value: "0", label: "none yet" }, ...ROLE_CHOICES] as const;

/** The first role of somebody new, and where. */
export function FirstRole({
  role,
  namespace,
  onRole,
  onNamespace,
}: {
  role: RoleChoice | "0";
  namespace: string;
  onRole: (role: RoleChoice | "0") => void;
  onNamespace: (path: string) => void;
}) {
  const { data: tree = [] } = useQuery(namespaces);
  const places = [
    { value: "", label: "everything" },
    ...tree.map(({ path }) => ({ value: path, label: cutText(visibleText(path), PATH_MAX) })),
  ];
  return (
    <div className={styles.firstRole}>
      <div className={styles.actions}>
        <Select label="Role" value={role} choices={ROLES} onChange={onRole} />
        {role !== "0" && <Select label="On" value={namespace} choices={places} onChange={onNamespace} />}
      </div>
      {role === "0" && <p className={styles.hint}>Without a role they can sign in, but see nothing.</p>}
    </div>
  );
}
