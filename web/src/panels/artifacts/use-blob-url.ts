import { useEffect, useState } from "react";

/** A blob URL of the text while the component is mounted. */
export function useBlobUrl(text: string | undefined, type: string): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (text === undefined) return undefined;
    const made = URL.createObjectURL(new Blob([text], { type }));
    setUrl(made);
    return () => {
      setUrl(undefined);
      URL.revokeObjectURL(made);
    };
  }, [text, type]);
  return url;
}
