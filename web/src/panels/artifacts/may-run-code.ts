/** Formats based on pickle: loading one may run its code. */
const PICKLED = /\.(?:pkl|pickle|pt|pth|ckpt|joblib|dill|cloudpickle)$/i;

/** Whether loading it with the usual library may run its code. By its name: the server does not inspect the content. */
export function mayRunCode({ name, uri }: { name: string; uri: string }): boolean {
  return PICKLED.test(name) || PICKLED.test(uri);
}
