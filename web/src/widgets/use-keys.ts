import { useEffectEvent, useLayoutEffect } from "react";

const TYPED_INTO = "input:not([type=checkbox]), textarea, select";

/** Whether it is a text field, so that letters are not shortcuts. */
function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(TYPED_INTO));
}

function isInDialog({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest("[role=dialog]") !== null;
}

// Key presses count as soon as the page is shown, by the time of the press, so that a busy machine loses none.

/** Calls for a key that is pressed anywhere outside a text field or dialog and without Ctrl, Alt or Meta. */
export function useKey(key: string, onPress: () => void): void {
  const press = useEffectEvent(onPress);
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      if (event.defaultPrevented || isInDialog(event)) return;
      event.preventDefault();
      press();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [key]);
}

/** Calls for Ctrl or Command with a key, also out of a text field. */
export function useControlKey(key: string, onPress: () => void): void {
  const press = useEffectEvent(onPress);
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== key || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      press();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [key]);
}

const CHORD_MS = 1_200;

/** Calls for `g` and then another key. */
export function useGoKeys(onGo: (key: string) => void): void {
  const go = useEffectEvent(onGo);
  useLayoutEffect(() => {
    let beganMs = -CHORD_MS;
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      if (event.timeStamp - beganMs < CHORD_MS) {
        beganMs = -CHORD_MS;
        go(event.key);
      } else if (event.key === "g") beganMs = event.timeStamp;
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}
