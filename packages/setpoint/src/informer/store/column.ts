type Numbers = Uint32Array | Int32Array | Float64Array;

const PAGE_BITS = 8;
const PAGE_SIZE = 1 << PAGE_BITS;

/** Numbers by slot, in pages that never move: growth leaves no smaller copy behind for the garbage collector. */
export class Column {
  readonly #newPage: (length: number) => Numbers;
  readonly #pages: Numbers[] = [];

  constructor(newPage: (length: number) => Numbers) {
    this.#newPage = newPage;
  }

  get bytes(): number {
    return this.#pages.reduce((sum, page) => sum + page.byteLength, 0);
  }

  /** The slot must have been set before. */
  get(slot: number): number {
    return this.#pages[slot >>> PAGE_BITS]![slot & (PAGE_SIZE - 1)]!;
  }

  set(slot: number, value: number): void {
    const page = slot >>> PAGE_BITS;
    while (page >= this.#pages.length) this.#pages.push(this.#newPage(PAGE_SIZE));
    this.#pages[page]![slot & (PAGE_SIZE - 1)] = value;
  }
}
