import { useRef, useState, type RefCallback } from "react";

const TEXT_FIELDS =
  'textarea, input:is(:not([type]), [type="text"], [type="search"], [type="password"]):not([aria-hidden="true"])';

interface FieldFocus {
  ref: RefCallback<HTMLElement>;
  finalFocus: () => HTMLElement | boolean;
}

/**
 * For popups: their first text field gets the focus in the same task that opened it. Base UI focuses in the next frame,
 * and a user who types quickly would lose letters until then, or trigger shortcuts of the page. Base UI then finds the
 * focus inside, so the element to return the focus to is stored here.
 */
export function useFieldFocus(): FieldFocus {
  const popup = useRef<HTMLElement>(null);
  const before = useRef<Element>(null);
  const [focus] = useState<FieldFocus>(() => ({
    ref: (element) => {
      // Base UI merges it with its own refs, and calls again for the same element.
      if (element === null || element === popup.current) return;
      popup.current = element;
      before.current = document.activeElement;
      // It is not positioned yet, so that scrolling to it would go to the wrong place.
      element.querySelector<HTMLElement>(TEXT_FIELDS)?.focus({ preventScroll: true });
    },
    finalFocus: () => {
      const now = document.activeElement;
      const isElsewhere = now !== null && now !== document.body && popup.current?.contains(now) !== true;
      if (isElsewhere) return false;
      const { current } = before;
      // An element of a menu is gone with it; Base UI has another one.
      return current instanceof HTMLElement && current !== document.body && current.isConnected
        ? current
        : true;
    },
  }));
  return focus;
}
