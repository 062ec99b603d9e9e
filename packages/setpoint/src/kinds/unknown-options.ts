/** One message for each unknown option, most often a misspelt one. */
export function unknownOptions(options: object, known: readonly string[]): readonly string[] {
  const strangers = Object.keys(options).filter((name) => !known.includes(name));
  return strangers.map((name) => `there is no option ${name}; there are ${known.join(", ")}`);
}
