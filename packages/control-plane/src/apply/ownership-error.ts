/** A field's ownership cannot be worked out: managedFields are malformed, or a value has not the shape of its schema. */
export class OwnershipError extends Error {}
