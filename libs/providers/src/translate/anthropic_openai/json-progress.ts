/** Follows a JSON text as it comes in pieces, and knows when its first value is whole. Reads each character once. */
export class JsonProgress {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #begun = false;
  #first = '';

  /** True when an object has come to its end. */
  get isWhole(): boolean {
    return this.#first === '{' && this.#begun && this.#depth <= 0 && !this.#inString;
  }

  /** True when anything but white space has come. */
  get hasBegun(): boolean {
    return this.#first !== '';
  }

  read(piece: string): void {
    if (this.#first === '') this.#first = piece.trimStart().slice(0, 1);
    for (let i = 0; i < piece.length; i += 1) {
      const char = piece[i];
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (char === '\\') this.#escaped = true;
        else if (char === '"') this.#inString = false;
      } else if (char === '"') this.#inString = true;
      else if (char === '{' || char === '[') {
        this.#depth += 1;
        this.#begun = true;
      } else if (char === '}' || char === ']') this.#depth -= 1;
    }
  }
}
