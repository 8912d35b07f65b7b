import { useQueryClient } from "@tanstack/react-query";
import type { WhoAmIResponse } from "#proto/cairn/v1/access_pb.ts";
import { shellWord } from "#lang/words/shell-line.ts";
import { connectAgain } from "../data/live/live.ts";
import { Button } from "../widgets/button.tsx";
import { CopyButton } from "../widgets/copy-button.tsx";
import { Name } from "../widgets/name.tsx";
import { Notice } from "../widgets/notices/notice.tsx";
import styles from "./no-role.module.css";
import { useSignOut } from "./use-sign-out.ts";

/** In place of every page for a user without any role: whom to ask, and for what. */
export function NoRole({ who: { principal, token } }: { who: WhoAmIResponse }) {
  const client = useQueryClient();
  const leave = useSignOut();
  const name = principal?.name ?? "";
  const command = `cairn access grant writer ${shellWord(name)} NAMESPACE`;
  const checkAgain = async () => {
    await client.invalidateQueries();
    connectAgain();
  };
  return (
    <Notice title="You have no role on this server yet">
      <p>
        You are signed in as <Name text={name} mono />, but you have not been given a role, so there is
        nothing that you may see. Ask the administrator of this server, or a maintainer of your team's
        namespace. They can do it on their page Access, under Namespaces, or with this command:
      </p>
      <div className={styles.command}>
        <code>{command}</code>
        <CopyButton text={command} label="Copy the command" />
      </div>
      <p className={styles.actions}>
        <Button primary onClick={() => void checkAgain()}>
          Check again
        </Button>
        {token !== undefined && <Button onClick={() => void leave()}>Sign in as somebody else</Button>}
      </p>
    </Notice>
  );
}
