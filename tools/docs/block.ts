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
  /** The text after the language: the file that the block is an excerpt of, or empty. */
  readonly tag: string;
  readonly lines: readonly string[];
  /** Whether only white space follows it up to the next heading or the end. */
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
 * The blocks that are compiled together: a block continues the previous one of its page, unless it has imports or
 * redeclares a name. In the reference each example is separate, and the last block of a section is no example but a
 * declaration written by the compiler.
 */
export function modulesOf(page: Page): readonly (readonly Block[])[] {
  const isReference = page.path.startsWith("docs/reference/");
  const modules: Block[][] = [];
  for (const block of blocksOf(page)) {
    // An excerpt is compiled with the file that it names; another test compares them.
    if (block.tag !== "" || (isReference && block.endsSection)) continue;
    const last = modules.at(-1);
    const isAnew = isReference || imports(block) || (last && declares(last, declaredIn(block)));
    if (!last || isAnew) modules.push([block]);
    else last.push(block);
  }
  return modules;
}

/** Whether a block has imports. */
export function imports({ lines }: Block): boolean {
  return lines.some((line) => line.startsWith("import "));
}

/** The names that a block declares at its top level. */
export function declaredIn({ lines }: Block): readonly string[] {
  return lines.flatMap((line) => DECLARATION.exec(line)?.[1] ?? []);
}

function declares(blocks: readonly Block[], names: readonly string[]): boolean {
  return blocks.some((block) => declaredIn(block).some((name) => names.includes(name)));
}
