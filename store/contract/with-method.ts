/** The store, with another method in place of one of its own. */
export function withMethod<S extends object, N extends keyof S>(store: S, name: N, method: S[N]): S {
  return new Proxy(store, {
    get: (_, asked) => {
      if (asked === name) return method;
      const value: unknown = Reflect.get(store, asked);
      return typeof value === "function" ? (value.bind(store) as unknown) : value;
    },
  });
}
