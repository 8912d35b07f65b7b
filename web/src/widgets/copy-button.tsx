import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "./button.tsx";
import { copyText } from "./copy-text.ts";

const TOLD_MS = 1_500;

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
  const [told, setTold] = useState<"" | "done" | "failed">("");
  useEffect(() => {
    if (told === "") return undefined;
    const timer = setTimeout(() => setTold(""), TOLD_MS);
    return () => clearTimeout(timer);
  }, [told]);
  const copy = async () => setTold((await copyText(text)) ? "done" : "failed");
  const words = told === "done" ? "Copied" : told === "failed" ? "Could not copy" : undefined;
  return (
    <Button label={words ?? label} onClick={() => void copy()} quiet={children === undefined}>
      {told === "done" ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      {children !== undefined && (words ?? children)}
      <span role="status" className="unseen">
        {words}
      </span>
    </Button>
  );
}
