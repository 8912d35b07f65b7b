/** All icons of the pages, drawn for Cairn. A new one is a line here: paths on a grid of 24 by 24, with 2 to 3 units free at the border. */
import { circle, dot, icon } from "./icon.tsx";

// Directions.
export const ArrowDown = icon("M12 4.5v15M5.5 13l6.5 6.5 6.5-6.5");
export const ArrowUp = icon("M12 19.5v-15M5.5 11L12 4.5l6.5 6.5");
export const ArrowLeft = icon("M19.5 12h-15M11 5.5L4.5 12l6.5 6.5");
export const ArrowRight = icon("M4.5 12h15M13 5.5l6.5 6.5-6.5 6.5");
export const ArrowDownToLine = icon("M12 3.5v12M6 10l6 6 6-6M4.5 20.5h15");
export const ChevronDown = icon("M5.5 9l6.5 6.5L18.5 9");
export const ChevronLeft = icon("M15 5.5L8.5 12l6.5 6.5");
export const ChevronRight = icon("M9 5.5l6.5 6.5L9 18.5");
export const RotateCcw = icon("M4 4.5V10h5.5M4.3 9.8a8 8 0 1 1 0 4.4");
export const SquareArrowOutUpRight = icon("M10.5 5h-6v14.5H19v-6M14 4h6v6M20 4l-9 9");
export const WrapText = icon("M4 6h16M4 12h12.5a3 3 0 0 1 0 6h-4M15 15.5L12.5 18l2.5 2.5M4 18h4.5");

// Signs.
export const Check = icon("M4.5 12.5l5 5L19.5 7");
export const Ellipsis = icon(circle(5, 12, 1), circle(12, 12, 1), circle(19, 12, 1));
export const GripVertical = icon(
  dot(9, 5.5),
  dot(15, 5.5),
  dot(9, 12),
  dot(15, 12),
  dot(9, 18.5),
  dot(15, 18.5),
);
export const Info = icon(circle(12, 12, 9), dot(12, 7.8), "M12 11.5v5");
export const List = icon(dot(4.2, 6), dot(4.2, 12), dot(4.2, 18), "M9 6h11.5M9 12h11.5M9 18h11.5");
export const Menu = icon("M4 6.5h16M4 12h16M4 17.5h16");
export const Minus = icon("M4.5 12h15");
export const Plus = icon("M12 4.5v15M4.5 12h15");
export const Regex = icon(circle(6, 18.5, 1), "M15 3.5v11M10.2 6.2l9.6 5.6M19.8 6.2l-9.6 5.6");
export const TriangleAlert = icon(dot(12, 17), "M12 3.5l9.5 17h-19ZM12 10v3.5");
export const X = icon("M5.5 5.5l13 13M18.5 5.5l-13 13");

// Things.
export const ChartScatter = icon("M3.5 3.5v17h17", dot(8.5, 15), dot(11.5, 9), dot(16, 13), dot(18, 6));
export const CircleUser = icon(circle(12, 12, 9), circle(12, 10, 3), "M6.2 18.6a6.3 6.3 0 0 1 11.6 0");
export const Copy = icon("M9 9h11.5v11.5H9ZM5 15H3.5V3.5H15V5");
export const Download = icon("M12 3.5V15M7 10.5l5 5 5-5M4 16.5v4h16v-4");
export const Flag = icon("M5 21V4h14.5l-4 5 4 5H5");
export const Folder = icon("M3 19.5v-15h6.5l2.5 3.5h9v11.5Z");
export const House = icon("M3 11.5L12 4l9 7.5M6 9.5v11h12v-11M10 20.5v-6h4v6");
export const Keyboard = icon(
  "M2.5 6h19v12.5h-19ZM8 15h8",
  dot(6.5, 10.5),
  dot(10.2, 10.5),
  dot(13.8, 10.5),
  dot(17.5, 10.5),
);
export const KeyRound = icon(circle(8, 16, 4.5), "M11.2 12.8L20.5 3.5M16 8l3.5 3.5");
export const LineChart = icon("M3.5 3.5v17h17M7.5 15.5l4-5.5 3.5 3 5-6.5");
export const Moon = icon("M20.2 14A8.6 8.6 0 1 1 10 3.8a6.7 6.7 0 0 0 10.2 10.2Z");
export const Pencil = icon("M4 20l1-4.8L16.2 4l3.8 3.8L8.8 19ZM13.5 6.7l3.8 3.8");
export const Pin = icon("M8 3.5h8M9.5 3.5V10L6 14.5h12L14.5 10V3.5M12 14.5v6.5");
export const PinOff = icon("M8 3.5h8M9.5 3.5V10L6 14.5h12L14.5 10V3.5M12 14.5v6.5M3 4.5l18 15");
export const Route = icon(
  circle(6, 18.5, 2.5),
  circle(18, 5.5, 2.5),
  "M9 18.5h6A3.25 3.25 0 0 0 15 12H9a3.25 3.25 0 0 1 0-6.5h6",
);
export const Search = icon(circle(10.5, 10.5, 7), "M15.8 15.8l5 5");
export const SlidersHorizontal = icon(
  "M3.5 5.5h9M17.5 5.5h3M3.5 12h2M10.5 12h10M3.5 18.5h10M18.5 18.5h2",
  circle(15, 5.5, 2),
  circle(8, 12, 2),
  circle(16, 18.5, 2),
);
export const Sun = icon(
  circle(12, 12, 4),
  "M12 2.5v1.5M12 20v1.5M2.5 12H4M20 12h1.5M5.3 5.3l1 1M17.7 17.7l1 1M5.3 18.7l1-1M17.7 6.3l1-1",
);
export const Target = icon(circle(12, 12, 9), circle(12, 12, 5), circle(12, 12, 1));
export const Trash2 = icon("M4 6.5h16M9 6.5v-3h6v3M6 6.5l1 14h10l1-14M10 11v5.5M14 11v5.5");

const EYE = "M2.5 12C5 7.6 8.2 5.5 12 5.5s7 2.1 9.5 6.5c-2.5 4.4-5.7 6.5-9.5 6.5S5 16.4 2.5 12Z";
export const Eye = icon(EYE, circle(12, 12, 3));
export const EyeOff = icon(EYE, "M4.5 19.5l15-15");
