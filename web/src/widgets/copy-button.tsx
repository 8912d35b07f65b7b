import { useEffect, useState } from "react";
import { Button } from "./button.tsx";
import { copyText } from "./copy-text.ts";
import { Check, Copy } from "./icons/icons.ts";

const SHOWN_MS = 1_500;

/** Copies a text to the clipboard and confirms it for a moment. */
export function CopyButton({
  text,
  label = "Copy",
  children,
}: {
  text: string;
  label?: string;
  children?: string;
}) {
  const [outcome, setOutcome] = useState<"" | "done" | "failed">("");
  useEffect(() => {
    if (outcome === "") return undefined;
    const timer = setTimeout(() => setOutcome(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => setOutcome((await copyText(text)) ? "done" : "failed");
  const words = outcome === "done" ? "Copied" : outcome === "failed" ? "Could not copy" : undefined;
  return (
    <Button label={words ?? label} onClick={() => void copy()} quiet={children === undefined}>
      {outcome === "done" ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      {children !== undefined && (words ?? children)}
      <span role="status" className="unseen">
        {words}
      </span>
    </Button>
  );
}
