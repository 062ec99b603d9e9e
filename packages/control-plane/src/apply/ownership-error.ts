/** Field ownership cannot be determined: managedFields are malformed, or a value does not fit its schema. */
export class OwnershipError extends Error {}
