import { useState } from "react";
import type { XRange } from "./motion.ts";

/** The visible ranges of x and y of a single chart, which keeps them itself. */
export function useZooms() {
  const [zoom, onZoom] = useState<XRange>();
  const [zoomY, onZoomY] = useState<XRange>();
  const onReset = (): void => {
    onZoom(undefined);
    onZoomY(undefined);
  };
  return { zoom, zoomY, onZoom, onZoomY, onReset };
}
