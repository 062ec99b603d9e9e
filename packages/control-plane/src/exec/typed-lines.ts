const INTERRUPT = "\x03";
const END = "\x04";
const BACKSPACE = "\x7f";

/** The lines of a text that arrives in chunks. The last one may lack a newline. */
export async function* textLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** The lines that a user types at a terminal, which displays only what `echo` sends back. */
export async function* terminalLines(
  bytes: AsyncIterable<Uint8Array>,
  echo: (text: string) => Promise<void>,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let line = "";
  for await (const chunk of bytes) {
    for (const character of decoder.decode(chunk, { stream: true })) {
      if (character === END && line === "") return;
      if (character === "\r" || character === "\n" || character === INTERRUPT) {
        await echo(character === INTERRUPT ? "^C\r\n" : "\r\n");
        yield character === INTERRUPT ? "" : line;
        line = "";
      } else if (character === BACKSPACE) {
        if (line !== "") await echo("\b \b");
        line = line.slice(0, -1);
      } else if (character >= " ") {
        line += character;
        await echo(character);
      }
    }
  }
}
