import { useEffect, useEffectEvent, useLayoutEffect, useState } from "react";
import { SentTexts } from "./sent-texts.ts";

interface TypedText {
  value: string;
  onChange: (text: string) => void;
  onBlur: () => void;
}

/**
 * State of a field whose text is kept in the address: typed letters are shown at once and sent after `quietMs` without
 * typing; a text that was not sent from here (Back, a link) replaces the shown one.
 */
export function useTypedText(kept: string, send: (text: string) => void, quietMs = 0): TypedText {
  const [text, setText] = useState(kept);
  const [sent] = useState(() => new SentTexts());
  const sendIfNew = useEffectEvent((typed: string) => {
    if (typed === sent.latest(kept)) return;
    sent.send(typed);
    send(typed);
  });
  useLayoutEffect(() => {
    if (!sent.takeBack(kept)) setText(kept);
  }, [kept, sent]);
  useEffect(() => {
    const timer = setTimeout(() => sendIfNew(text), quietMs);
    return () => clearTimeout(timer);
  }, [text, quietMs]);
  const onBlur = () => {
    if (text === sent.latest(kept)) sent.forget();
  };
  return { value: text, onChange: setText, onBlur };
}
