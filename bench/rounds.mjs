/**
 * What each side measured in each round: a list for each, in their order. The sides change who comes first, so that none
 * has the better half of every round.
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
