/** A page of Markdown, by its path from the root of the repository: `docs/kinds.md`. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** The start of a line that declares something at the top of a block, and its name. */
export const DECLARATION = /^(?:export |declare |await )*(?:const|let|using|function|class|interface|type) (\w+)?/;

/** The code between two fences. */
export interface Block {
  readonly page: string;
  /** The first line of its code, counted from 1. */
  readonly line: number;
  /** What stands behind the language: the file that it is an excerpt of, or nothing. */
  readonly tag: string;
  readonly lines: readonly string[];
  /** Whether nothing but space stands between it and the next heading, or the end. */
  readonly endsSection: boolean;
}

/** The blocks of a page that are TypeScript, in order. */
export function blocksOf({ path, text }: Page): readonly Block[] {
  return [...text.matchAll(/^```ts(?: (\S+))?\n(.*?)^```$/gms)].map((match) => {
    const [whole, tag = "", code] = match;
    return {
      page: path,
      line: text.slice(0, match.index).split("\n").length + 1,
      tag,
      lines: code!.replace(/\n$/, "").split("\n"),
      endsSection: /^\s*(#|$)/.test(text.slice(match.index + whole.length)),
    };
  });
}

/**
 * The blocks that are compiled together: one goes on where the last one of its page ended, unless it imports, or declares
 * a name of theirs anew. In the reference each example stands alone, and what a section ends with is no example: the
 * compiler itself has declared it.
 */
export function modulesOf(page: Page): readonly (readonly Block[])[] {
  const isReference = page.path.startsWith("docs/reference/");
  const modules: Block[][] = [];
  for (const block of blocksOf(page)) {
    // An excerpt is compiled with the file that it names; another test holds them together.
    if (block.tag !== "" || (isReference && block.endsSection)) continue;
    const last = modules.at(-1);
    const isAnew = isReference || imports(block) || (last && declares(last, declaredIn(block)));
    if (!last || isAnew) modules.push([block]);
    else last.push(block);
  }
  return modules;
}

/** Whether a block says where its names come from. */
export function imports({ lines }: Block): boolean {
  return lines.some((line) => line.startsWith("import "));
}

/** The names that a block declares at its top. */
export function declaredIn({ lines }: Block): readonly string[] {
  return lines.flatMap((line) => DECLARATION.exec(line)?.[1] ?? []);
}

function declares(blocks: readonly Block[], names: readonly string[]): boolean {
  return blocks.some((block) => declaredIn(block).some((name) => names.includes(name)));
}
