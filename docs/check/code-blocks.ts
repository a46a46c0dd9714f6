/** A fenced block of a Markdown page. */
export interface CodeBlock {
  language: string;
  code: string;
  /** Line of the opening fence, from 0. */
  line: number;
  /** Output of the block, if the next block of the page shows it. */
  output?: string;
}

/** The fenced blocks of a page, in order. */
export function readCodeBlocks(page: string): CodeBlock[] {
  const lines = page.split('\n');
  const blocks: CodeBlock[] = [];
  let endOfLast = -1;
  for (let line = 0; line < lines.length; line += 1) {
    const [, fence, language = ''] = /^(`{3,})(\w*)(?: \[[^\]]+\])?$/.exec(lines[line] as string) ?? [];
    if (!fence) continue;
    const end = lines.indexOf(fence, line + 1);
    const code = lines.slice(line + 1, end).join('\n');
    const last = blocks.at(-1);
    if (last && language === '' && lines.slice(endOfLast + 1, line).join('') === '') last.output = code;
    blocks.push({ language, code, line });
    line = endOfLast = end;
  }
  return blocks;
}

interface Imports {
  /** One line. */
  header: string;
  /** The code without them, line for line. */
  bodies: string[];
}

/** Takes the imports out of pieces of code, and joins those of the same name. */
export function takeImports(pieces: readonly string[]): Imports {
  const named = new Map<string, Set<string>>();
  const others = new Set<string>();
  const bodies = pieces.map((code) =>
    code.replaceAll(/^import\s+([^;]*?)\s*from\s+'([^']+)';/gm, (statement: string, clause: string, from: string) => {
      const names = /^\{([^}]*)\}$/.exec(clause)?.[1]?.split(',') ?? [];
      if (names.length === 0) others.add(`import ${clause} from '${from}';`);
      for (const name of names.map((text) => text.trim()).filter(Boolean)) {
        named.set(from, (named.get(from) ?? new Set()).add(name));
      }
      return '\n'.repeat(statement.split('\n').length - 1);
    }),
  );
  const joined = [...named].map(([from, names]) => `import { ${[...names].join(', ')} } from '${from}';`);
  return { header: [...joined, ...others].join(' '), bodies };
}

/**
 * One module of all TypeScript blocks of a page, each in the scope of those before it, so that it can use their names and
 * redeclare them. Every line of code keeps its number, so that errors point into the page. Pages import the reader's server from
 * `./server.ts` or `@/server`.
 */
export function toModule(page: string): string {
  const blocks = readCodeBlocks(page).filter(({ language }) => language === 'ts');
  const { header, bodies } = takeImports(
    blocks.map(({ code }) =>
      code.replace(/^#!.*/, '').replaceAll(/ from '[.@]\/server(\.ts)?'/g, " from './server.ts'"),
    ),
  );
  const lines: string[] = page.split('\n').map(() => '');
  for (const [index, { line }] of blocks.entries()) {
    const body = (bodies[index] as string).replaceAll(/^export default /gm, 'void ').replaceAll(/^export /gm, '');
    const isFragment = /^\w+: /.test(body.trimStart());
    const [before, text, after] = isFragment
      ? ['{ void ({', body.trimEnd().replace(/;$/, ''), '} satisfies Record<string, any>);']
      : ['{', body, ''];
    for (const [offset, content] of [before, ...text.split('\n'), after].entries()) lines[line + offset] = content;
  }
  lines[0] = `${header} export async function page() {`;
  return `${lines.join('\n')}\n${'}'.repeat(blocks.length + 1)}\n`;
}
