export declare const NODE_MIN: string;
export declare function isOlder(version: string, than?: string): boolean;
