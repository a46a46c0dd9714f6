// Draws the end of `npm run demo`, from its last question on, as docs/images/demo.svg: `node scripts/draw-demo.mjs`.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'demo'], { cwd: root, encoding: 'utf8' });
if (status !== 0) throw new Error(`The demo failed: ${stderr}`);

const columns = 118;
const lines = stdout
  .slice(stdout.lastIndexOf('Question'))
  .trimEnd()
  .split('\n')
  .map((line) => line.replace(/file:\S*\/\.quiver\/[^/]+/, '.quiver'))
  .map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line))
  .map((line) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;'));
const [width, height] = [columns * 7.8 + 32, lines.length * 20 + 28];
const drawn = lines.map((line, row) => {
  const style = /^\S/.test(line) ? ' class="command"' : /^ {2}\S/.test(line) ? ' class="place"' : '';
  return `<text${style} x="16" y="${row * 20 + 29}">${line}</text>`;
});
writeFileSync(
  new URL('../docs/images/demo.svg', import.meta.url),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The last lines of npm run demo">
<style>
  svg { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
  text { fill: #9198a1; white-space: pre; } .command { fill: #f0f6fc; font-weight: 600; } .place { fill: #7ee787; }
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${drawn.join('\n')}
</svg>
`,
);
