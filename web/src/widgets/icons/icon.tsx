import type { SVGProps } from "react";

interface IconProps extends SVGProps<SVGSVGElement> {
  /** Width and height in pixels. */
  size?: number;
}

/** A part of a drawing, as the text of an SVG path. */
export function circle(x: number, y: number, radius: number): string {
  return `M${x - radius} ${y}a${radius} ${radius} 0 1 1 ${2 * radius} 0a${radius} ${radius} 0 1 1 ${-2 * radius} 0`;
}

/** A point as thick as its two strokes. */
export function dot(x: number, y: number): string {
  return circle(x, y, 0.5);
}

/**
 * An icon: lines of one width in the colour of the text around it, on a grid of 24 by 24. It is decoration, hidden from
 * screen readers, unless it has a role.
 */
export function icon(...parts: readonly string[]) {
  const path = parts.join("");
  return function Icon({ size = 24, ...others }: IconProps) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden={others.role === undefined}
        {...others}
      >
        <path d={path} />
      </svg>
    );
  };
}
