/**
 * Flags of the processes that run tests. One of them was once aborted by V8 13.6 ("Mutex corrupt"), which had freed a WebAssembly module whose calls into
 * JavaScript it was just compiling because they were many. Node's own type stripping and fetch are such modules. With
 * this flag, those calls are never compiled.
 */
export const WORKER_FLAGS: string[] = ["--wasm-wrapper-tiering-budget=2147483647"];
