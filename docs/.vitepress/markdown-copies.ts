import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SiteConfig } from 'vitepress';

/** Writes every page except the API reference as Markdown, `llms.txt` (an index of the pages) and `llms-full.txt` (all pages but the decisions in one file). */
export async function writeMarkdownCopies({ pages, srcDir, outDir, site }: SiteConfig): Promise<void> {
  const index: string[] = [];
  const decisions: string[] = [];
  const texts: string[] = [];
  for (const page of pages.toSorted()) {
    if (page.startsWith('reference/api/')) continue;
    const text = await readFile(join(srcDir, page), 'utf8');
    const heading = /^# (.+)$/m.exec(text)?.[1] ?? page;
    const isDecision = page.startsWith('decisions/');
    (isDecision ? decisions : index).push(`- [${heading}](/${page})`);
    if (!isDecision) texts.push(`<!-- ${page} -->\n\n${text.trim()}\n`);
    await mkdir(dirname(join(outDir, page)), { recursive: true });
    await copyFile(join(srcDir, page), join(outDir, page));
  }
  const server =
    'To search these pages as tools, also offline, start the MCP server of the documentation: `npx -y @quiver/docs`, in Claude Code `claude mcp add quiver-docs -- npx -y @quiver/docs`.';
  const title = `# ${site.title}\n\n> ${site.description}\n\n${server}\n`;
  await writeFile(
    join(outDir, 'llms.txt'),
    `${title}\n## Pages\n\n${index.join('\n')}\n\n## Optional\n\n${decisions.join('\n')}\n`,
  );
  await writeFile(join(outDir, 'llms-full.txt'), `${title}\n${texts.join('\n')}`);
}
