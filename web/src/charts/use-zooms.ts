import { useState } from "react";
import type { XRange } from "./motion.ts";

/** The parts of x and y that a chart shows which is alone, and so keeps them itself. */
export function useZooms() {
  const [zoom, onZoom] = useState<XRange>();
  const [zoomY, onZoomY] = useState<XRange>();
  const onReset = (): void => {
    onZoom(undefined);
    onZoomY(undefined);
  };
  return { zoom, zoomY, onZoom, onZoomY, onReset };
}
