/** One column of a resource's Table form. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  /** Where the cell comes from; undefined: a cell function of the kind. */
  readonly jsonPath?: string;
}
