/**
 * The caller. The owner is the user who started the server, as long as it listens to its own machine only. Groups and everyone are bound to roles but never call.
 */
export interface Principal {
  kind: "owner" | "user" | "service" | "anonymous";
  name: string;
}
