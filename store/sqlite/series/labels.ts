import { labelsText, type Labels } from "#core/types/series.ts";

export const labelsToText = labelsText;

export function labelsFromText(text: string): Labels {
  if (text === "") return [];
  return text.split("\u0001").map((pair) => {
    const at = pair.indexOf("\u0000");
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
}
