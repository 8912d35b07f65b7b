import { useQuery } from "@tanstack/react-query";
import { CircleUser } from "../../widgets/icons/icons.ts";
import { PrincipalKind } from "#proto/cairn/v1/access_pb.ts";
import { whoAmI } from "../../data/queries.ts";
import { Button } from "../../widgets/button.tsx";

/** Shows only the runs that the caller created. A user who is alone on this machine has no use for it. */
export function MyRunsButton({ isOn, onChange }: { isOn: boolean; onChange: (isOn: boolean) => void }) {
  const { data } = useQuery(whoAmI);
  const kind = data?.principal?.kind;
  const isAlone = kind === undefined || kind === PrincipalKind.OWNER || kind === PrincipalKind.ANONYMOUS;
  if (isAlone && !isOn) return null;
  return (
    <Button aria-pressed={isOn} onClick={() => onChange(!isOn)} title="Only runs that you created">
      <CircleUser size={14} aria-hidden /> My runs
    </Button>
  );
}
