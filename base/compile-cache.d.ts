export function keepCompiledCode(env?: NodeJS.ProcessEnv): void;
export function cacheFolder(env: NodeJS.ProcessEnv): string | undefined;
