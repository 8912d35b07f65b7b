import { useRef, useState, type RefCallback } from "react";

const TEXT_FIELDS =
  'textarea, input:is(:not([type]), [type="text"], [type="search"], [type="password"]):not([aria-hidden="true"])';

interface FieldFocus {
  ref: RefCallback<HTMLElement>;
  finalFocus: () => HTMLElement | boolean;
}

/**
 * For what opens over the page: its first text field, if it has one, gets the focus in the very task that opened it. Base UI focuses in the next frame, and who
 * types quickly would lose letters until then, or set off the keys of the page. As Base UI then finds the focus inside, where it goes back to is remembered here.
 */
export function useFieldFocus(): FieldFocus {
  const popup = useRef<HTMLElement>(null);
  const before = useRef<Element>(null);
  const [focus] = useState<FieldFocus>(() => ({
    ref: (element) => {
      // Base UI joins it with refs of its own, and calls again for the same element.
      if (element === null || element === popup.current) return;
      popup.current = element;
      before.current = document.activeElement;
      // It is not in its place yet, so that scrolling to it would lead astray.
      element.querySelector<HTMLElement>(TEXT_FIELDS)?.focus({ preventScroll: true });
    },
    finalFocus: () => {
      const now = document.activeElement;
      const isElsewhere = now !== null && now !== document.body && popup.current?.contains(now) !== true;
      if (isElsewhere) return false;
      const { current } = before;
      // What was in a menu has gone with it; Base UI knows of something else.
      return current instanceof HTMLElement && current !== document.body && current.isConnected
        ? current
        : true;
    },
  }));
  return focus;
}
