import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { AccessService, PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";

type Access = Client<typeof AccessService>;

const USERS = 5;
const NAMESPACES = 20;
const ROLES = [Role.VIEWER, Role.WRITER, Role.MAINTAINER];

/** Binds roles, one after the other and over those before, on servers that are killed. */
export class Granter {
  /** What must hold, by "user namespace". */
  readonly #granted = new Map<string, Role>();
  /** What was on its way when the server was killed: it may hold instead. */
  #doubtful: { name: string; role: Role } | undefined;
  acknowledged = 0;

  async prepare(transport: Transport): Promise<void> {
    const access = createClient(AccessService, transport);
    for (let i = 0; i < USERS; i++) {
      await access.createPrincipal({ name: `user-${i}`, kind: PrincipalKind.USER });
    }
  }

  /** Binds until the server is gone. */
  async write(transport: Transport, onAck: () => void): Promise<void> {
    const access = createClient(AccessService, transport);
    try {
      for (;;) {
        const n = this.acknowledged;
        const [principal, namespace] = [`user-${n % USERS}`, `teams/n${n % NAMESPACES}`];
        const role = ROLES[Math.floor(n / NAMESPACES) % ROLES.length]!;
        this.#doubtful = { name: `${principal} ${namespace}`, role };
        await access.bindRole({ principal, role, scope: { namespace } });
        this.#settle(role);
        this.acknowledged++;
        onAck();
      }
    } catch {
      // The server was killed.
    }
  }

  /** Gives the first thing that is not as it should be. */
  async check(transport: Transport): Promise<string | undefined> {
    const access = createClient(AccessService, transport);
    const found = await readBindings(access);
    if (this.#doubtful !== undefined && found.get(this.#doubtful.name) === this.#doubtful.role) {
      this.#settle(this.#doubtful.role);
    }
    this.#doubtful = undefined;
    for (const [name, role] of this.#granted) {
      if (found.get(name) !== role) return `${name} is ${found.get(name)}, not ${role}`;
      found.delete(name);
    }
    if (found.size > 0) return `nobody bound ${[...found.keys()].join(", ")}`;
    const { problems } = await access.verifyAudit({});
    return problems[0];
  }

  #settle(role: Role): void {
    this.#granted.set(this.#doubtful!.name, role);
    this.#doubtful = undefined;
  }
}

async function readBindings(access: Access): Promise<Map<string, Role>> {
  const found = new Map<string, Role>();
  for (let i = 0; i < NAMESPACES; i++) {
    const { bindings } = await access.getScope({ scope: { namespace: `teams/n${i}` } });
    for (const { principal, scope, role } of bindings) found.set(`${principal} ${scope?.namespace}`, role);
  }
  return found;
}
