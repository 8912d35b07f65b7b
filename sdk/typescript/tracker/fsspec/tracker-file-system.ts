export interface FileEntry {
  name: string;
  /** What a link leads to; "other" for devices, pipes and dangling links. */
  kind: "file" | "directory" | "other";
}

/**
 * The operations on files that FsspecTracker needs. Paths have "/" between their parts. Failures reject with
 * the error of the file system. Several processes may use one at once.
 */
export interface TrackerFileSystem {
  /** What is directly in a folder, in no particular order; nothing when there is no such folder. */
  list(folder: string): Promise<readonly FileEntry[]>;
  exists(path: string): Promise<boolean>;
  /** Rejects for anything but a file, and for one that is larger than `sizeBytesMax`. */
  read(path: string, sizeBytesMax: number): Promise<Uint8Array>;
  /**
   * Writes a new file into a folder that is there. A reader sees all of it or nothing. When there is a file of that
   * name, nothing happens and the answer is false, also when two do it at once.
   */
  create(path: string, content: string): Promise<boolean>;
  /** Adds to the end of a file, or makes it. What two add at once stays whole. */
  append(path: string, content: string): Promise<void>;
  /** Makes a folder with those above it; one that is there is fine. */
  makeDirs(folder: string): Promise<void>;
}

/** Refused rather than read half. */
export function tooLarge(path: string, sizeBytesMax: number): Error {
  return new Error(`cannot read "${path}": it has more than ${sizeBytesMax} bytes`);
}
