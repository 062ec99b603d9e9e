import { Buffer } from "node:buffer";

/** Cells are whole units, so that a body that grows or shrinks a little is overwritten in place. */
const UNIT_BYTES = 16;
const FIRST_SLAB_BYTES = 16 * 1024;
const LARGEST_SLAB_BYTES = 256 * 1024;
/** Units in the largest slab, as a power of two: an address is the slab's number times this, plus the unit. */
const UNITS_PER_SLAB = LARGEST_SLAB_BYTES / UNIT_BYTES;
/** How many units a cell may be too large for its body, in addition to a sixteenth of it. */
const TOLERATED_WASTE_UNITS = 3;

/**
 * Memory for bodies outside the garbage-collected heap: cells of whole 16-byte units, cut from slabs that never move. A
 * freed cell is reused for the next body of about its size. Nothing is ever compacted, so an update costs a copy of its
 * bytes and no pause.
 */
export class Slabs {
  #slabs: Buffer[] = [];
  /** Units already cut from the newest shared slab. */
  #cutUnits = 0;
  #current = -1;
  /** Free cells by their size in units. */
  #free: (number[] | undefined)[] = [];
  #slabBytes = 0;

  /** Bytes taken from the system. */
  get bytes(): number {
    return this.#slabBytes;
  }

  /** The units of a cell for `length` bytes. */
  static unitsFor(length: number): number {
    return Math.max(1, Math.ceil(length / UNIT_BYTES));
  }

  /** Whether a body of this many units should use a cell of that size. */
  static fits(units: number, cellUnits: number): boolean {
    return units <= cellUnits && cellUnits <= units + TOLERATED_WASTE_UNITS + (units >> 4);
  }

  /** The size of the cell that {@link take} returned last. */
  takenUnits = 0;

  /** Takes a cell of this many units, or a few more; returns its address. */
  take(units: number): number {
    for (this.takenUnits = units; Slabs.fits(units, this.takenUnits); this.takenUnits++) {
      const free = this.#free[this.takenUnits]?.pop();
      if (free !== undefined) return free;
    }
    this.takenUnits = units;
    if (units > UNITS_PER_SLAB) return this.#add(units * UNIT_BYTES) * UNITS_PER_SLAB;
    const room = this.#current < 0 ? 0 : this.#slabs[this.#current]!.length / UNIT_BYTES - this.#cutUnits;
    if (room < units) {
      if (room > 0) this.give(this.#current * UNITS_PER_SLAB + this.#cutUnits, room);
      const wanted = Math.min(LARGEST_SLAB_BYTES, Math.max(FIRST_SLAB_BYTES, this.#slabBytes));
      this.#current = this.#add(Math.max(wanted, units * UNIT_BYTES));
      this.#cutUnits = 0;
    }
    const address = this.#current * UNITS_PER_SLAB + this.#cutUnits;
    this.#cutUnits += units;
    return address;
  }

  /** Frees a cell. */
  give(address: number, units: number): void {
    const cells = this.#free[units];
    if (cells) cells.push(address);
    else this.#free[units] = [address];
  }

  /** The slab of the cell; its bytes begin at {@link offset}. */
  slab(address: number): Buffer {
    return this.#slabs[Math.floor(address / UNITS_PER_SLAB)]!;
  }

  offset(address: number): number {
    return (address % UNITS_PER_SLAB) * UNIT_BYTES;
  }

  clear(): void {
    this.#slabs = [];
    this.#free = [];
    this.#current = -1;
    this.#cutUnits = 0;
    this.#slabBytes = 0;
  }

  #add(bytes: number): number {
    this.#slabs.push(Buffer.allocUnsafeSlow(bytes));
    this.#slabBytes += bytes;
    return this.#slabs.length - 1;
  }
}
