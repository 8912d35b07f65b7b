// Loaded into a server with --import: a defect on demand. A request whose query has `throw-later=CODE` makes an
// uncaught error, with that code, a moment after its route was found; `outside` throws it outside of
// the request, as a timer would.
import { AsyncResource } from "node:async_hooks";
import { isMainThread } from "node:worker_threads";

const outside = new AsyncResource("outside");

if (isMainThread) {
  const Plain = globalThis.URLSearchParams;
  globalThis.URLSearchParams = class extends Plain {
    constructor(init) {
      super(init);
      const code = this.get("throw-later");
      if (code === null) return;
      const fail = () => {
        throw Object.assign(new Error("planted"), { code });
      };
      if (this.has("outside")) outside.runInAsyncScope(() => setTimeout(fail));
      else if (this.has("reject")) void Promise.resolve().then(fail);
      else setTimeout(fail);
    }
  };
}
