// Generated documents of about the same size in each format. One seed makes them equal on every machine.
import { createRandom } from '../random.mjs';

const syllables = 'ba co di fu ge ho ki lo ma ne or pa qui ro su ta ve wi xe yo za ly ing tion ment ous'.split(' ');

export function createCorpus(bytes) {
  const random = createRandom(7);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const words = Array.from({ length: 4000 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(syllables)).join(''),
  );
  // Word frequencies are skewed, as in natural language.
  const word = () => words[Math.floor(words.length * random() ** 3)];
  const sentence = () => {
    const text = Array.from({ length: 6 + Math.floor(random() * 18) }, word).join(random() < 0.1 ? ', ' : ' ');
    return `${text[0].toUpperCase()}${text.slice(1)}${pick(['.', '.', '.', '!', '?'])}`;
  };
  const paragraph = () => Array.from({ length: 2 + Math.floor(random() * 6) }, sentence).join(' ');
  const sections = [];
  for (let size = 0; size < bytes; size += sections.at(-1).body.join('').length + 40) {
    sections.push({
      level: 1 + Math.floor(random() * 3),
      title: `${word()} ${word()}`,
      body: Array.from({ length: 1 + Math.floor(random() * 4) }, paragraph),
    });
  }
  return {
    text: sections.map(({ title, body }) => `${title}\n\n${body.join('\n\n')}`).join('\n\n'),
    markdown: sections
      .map(
        ({ level, title, body }) => `${'#'.repeat(level)} ${title}\n\n${body.join('\n\n')}\n\n- ${title}\n- \`code\``,
      )
      .join('\n\n'),
    html: `<!doctype html><html><head><title>x</title></head><body><div id="page"><nav><a href="/">x</a></nav><main class="content">${sections
      .map(
        ({ level, title, body }) =>
          `<section class="part"><div class="text"><h${level}>${title} &amp; more</h${level}>${body.map((text) => `<p>${text.replace(',', ' <b>and</b>')}</p>`).join('\n')}<ul><li>one</li><li>two</li></ul></div></section>`,
      )
      .join('\n')}</main></div></body></html>`,
    json: JSON.stringify(sections.map(({ title, level, body }, id) => ({ id, title, level, body }))),
    latex: sections
      .map(({ level, title, body }) => `\\${'sub'.repeat(level - 1)}section{${title}}\n\n${body.join('\n\n')}`)
      .join('\n\n'),
    typescript: sections
      .map(
        ({ body }, index) =>
          `/** ${body[0].slice(0, 80)} */\nexport function call${index}(value: string): string {\n  const text = value.trim();\n  if (text === '${index}') {\n    return text;\n  }\n  return \`\${text} ${index}\`;\n}`,
      )
      .join('\n\n'),
  };
}
