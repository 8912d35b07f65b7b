export const NODE_MIN: string;
export function isOlder(version: string, than?: string): boolean;
