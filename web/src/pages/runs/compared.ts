/** More columns are not useful, and their ids would not fit into an address. */
export const COMPARED_MAX = 50;
