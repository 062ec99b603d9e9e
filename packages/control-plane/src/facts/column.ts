/** One column of a resource's Table. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  /** Source of the cell; undefined for a cell function of the kind. */
  readonly jsonPath?: string;
}
