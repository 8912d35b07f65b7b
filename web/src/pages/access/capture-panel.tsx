import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { namespaces } from "../../data/queries.ts";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import styles from "./access.module.css";

const PARTS = [
  { what: "console", title: "Console: what programs print" },
  { what: "code", title: "Code: archives of working directories, patches of uncommitted changes" },
] as const;

/** What clients may capture automatically in a namespace and below it. The root has no such policy. */
export function CapturePanel({ path }: { path: string }) {
  const { data: tree = [] } = useQuery(namespaces);
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: ({ what, forbids }: { what: "console" | "code"; forbids: boolean }) =>
      cairn.namespaces.updateNamespace({
        path,
        ...(what === "console" ? { forbidConsole: forbids } : { forbidCode: forbids }),
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: namespaces.queryKey }),
  });
  const namespace = tree.find((one) => one.path === path);
  if (namespace === undefined) return null;
  return (
    <Panel title="Capture">
      {change.error !== null && <ErrorNote error={change.error} />}
      {PARTS.map(({ what, title }) => {
        const where = namespace.forbiddenCapture?.[what] ?? "";
        const isAbove = where !== "" && where !== path;
        return (
          <div key={what} className={styles.closing}>
            <p>
              {title}. {where === "" ? "Allowed." : `Forbidden in ${visibleText(where)}.`}
            </p>
            {!isAbove && (
              <Button
                label={`${where === "" ? "Forbid" : "Allow"} ${what} capture`}
                onClick={() => change.mutate({ what, forbids: where === "" })}
                disabled={change.isPending}
              >
                {where === "" ? "Forbid" : "Allow"}
              </Button>
            )}
          </div>
        );
      })}
    </Panel>
  );
}
