/** More columns side by side help nobody, and their ids would not fit into an address. */
export const COMPARED_MAX = 50;
