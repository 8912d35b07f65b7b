import { isUnder } from "#lang/namespace-path.ts";
import { credentialEnded, type AccessBook, type Holder } from "../book.ts";
import type { Identity, Rights } from "../caller.ts";
import { PERMISSIONS, type Permission } from "../../types/permission.ts";
import type { HiddenArtifacts, ReadMask, Scope } from "../../types/scope.ts";

/** Who holds the token a call was made with; undefined when it was made without one. */
export function holderOf({ rights }: Pick<Identity, "rights">): Holder | undefined {
  return rights instanceof TokenRights ? rights.holder() : undefined;
}

/** What the holder of a token may do at the moment of the check. */
export class TokenRights implements Rights {
  readonly tokenId: string;
  readonly #book: AccessBook;
  #holder: Holder | undefined;
  #version = -1;

  constructor(book: AccessBook, tokenId: string) {
    this.#book = book;
    this.tokenId = tokenId;
  }

  may(permission: Permission, scope: Scope): boolean {
    const { standing, rankMax, namespaces } = this.holder();
    const needed = PERMISSIONS.indexOf(permission);
    if (needed === 0) return true;
    if (needed > rankMax || !namespaces.some((path) => isUnder(scope.namespace, path))) return false;
    return standing.rankAt(scope) >= needed;
  }

  mayAnywhere(permission: Permission): boolean {
    const holder = this.holder();
    const needed = PERMISSIONS.indexOf(permission);
    if (needed === 0) return true;
    holder.strongest ??= holder.standing.strongestWithin(holder.namespaces);
    return needed <= holder.rankMax && needed <= holder.strongest;
  }

  readable(): ReadMask | undefined {
    return this.#book.maskOf(this.holder());
  }

  hiddenArtifacts(): HiddenArtifacts {
    return this.holder().standing.hiddenArtifacts();
  }

  /** Throws `unauthenticated` (CREDENTIAL_ENDED) when the token was revoked or has expired. */
  holder(): Holder {
    if (this.#holder === undefined || this.#version !== this.#book.version) {
      this.#holder = this.#book.holderOf(this.tokenId);
      this.#version = this.#book.version;
    }
    const { expiresUs } = this.#holder.token;
    if (expiresUs !== undefined && this.#book.nowUs() >= expiresUs) {
      throw credentialEnded("it has expired");
    }
    return this.#holder;
  }
}
