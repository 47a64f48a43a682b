/** A client that is behind and takes less than this is cut, bytes per second. */
export const MIN_BYTES_PER_SECOND = 1024;
