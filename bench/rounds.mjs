/**
 * The measurements of each side: a list per side, in order of the rounds. The sides alternate in going first, so that
 * none has an advantage.
 */
export async function interleaved(rounds, sides) {
  const results = sides.map(() => []);
  const turns = sides.map((measure, side) => async () => results[side].push(await measure()));
  for (let at = 0; at < rounds; at++) {
    for (const turn of at % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  return results;
}

/** One side: measures a server that is started for it alone. */
export const onFresh = (start, measure) => async () => {
  const server = await start();
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
};
