export declare function keepCompiledCode(env?: NodeJS.ProcessEnv): void;
export declare function cacheFolder(env: NodeJS.ProcessEnv): string | undefined;
