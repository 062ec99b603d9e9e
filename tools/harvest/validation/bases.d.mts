export const operatorKinds: readonly string[];
