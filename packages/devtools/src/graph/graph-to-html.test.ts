import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFolder } from '../../../../scripts/test-folder.ts';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
import { graphToHtml } from './graph-to-html.js';
import type { GraphView, GraphViewEdge, GraphViewNode } from './graph-view.js';
import { pageScript } from './page-script.js';

const executablePath = readTestVariable('QUIVER_CHROMIUM');

const edge = (from: string, to: string, kind: string, reason: string, weight: number): GraphViewEdge => ({
  from,
  to,
  kind,
  reason,
  weight,
});

const node = (id: string, title: string, source: string, text: string): GraphViewNode => ({ id, title, source, text });

const toEngine = edge('lovelace', 'engine', 'phrase', '“analytical engine”', 1.1);
const toJacquard = edge('engine', 'jacquard', 'phrase', '“punched cards”', 0.9);
const toMenabrea = edge('notes', 'menabrea', 'link', 'notes.md links to menabrea.md', 1);

/** The neighborhood of a query whose answer is two steps away from the passages that match it. */
const computing: GraphView = {
  query: 'Which machine gave the programs of Ada Lovelace their cards?',
  nodes: [
    { ...node('lovelace', 'Ada Lovelace', 'people/lovelace.md', 'She wrote the first program.'), seedScore: 0.82 },
    { ...node('notes', 'Notes of the translator', 'works/notes.md', 'They are long.'), seedScore: 0.55 },
    node('engine', 'The analytical engine', 'machines/engine.md', 'It was to read punched cards.'),
    node('jacquard', 'Jacquard loom', 'machines/loom.md', 'It weaves patterns of punched cards.'),
    node('menabrea', 'Luigi Menabrea', 'people/menabrea.md', 'Menabrea described the engine.'),
    node('babbage', 'Charles Babbage', 'people/babbage.md', 'He designed two engines.'),
    node('difference', 'Difference engine no. 2', 'machines/difference.md', 'It computes tables.'),
    node('hollerith', 'Herman Hollerith', 'people/hollerith.md', 'He counted a census with punched cards.'),
    node('turin', 'Lectures of Turin', 'works/turin.md', 'Babbage explained his engine in 1840.'),
  ],
  edges: [
    toEngine,
    toJacquard,
    toMenabrea,
    edge('lovelace', 'notes', 'sequence', 'the passage before', 0.7),
    edge('lovelace', 'babbage', 'phrase', '“charles babbage”', 0.8),
    edge('babbage', 'difference', 'similarity', 'similarity 0.71', 0.71),
    edge('babbage', 'turin', 'relation', 'explained in', 1),
    edge('engine', 'babbage', 'phrase', '“engine”', 0.4),
    edge('jacquard', 'hollerith', 'phrase', '“punched cards”', 0.6),
    edge('menabrea', 'turin', 'triple', 'heard the lectures of', 0.8),
    edge('engine', 'difference', 'similarity', 'similarity 0.77', 0.77),
  ],
  ranking: [
    { id: 'lovelace', score: 1, path: [] },
    { id: 'engine', score: 0.71, path: [toEngine] },
    { id: 'notes', score: 0.55, path: [] },
    { id: 'jacquard', score: 0.38, path: [toEngine, toJacquard] },
    { id: 'menabrea', score: 0.22, path: [toMenabrea] },
  ],
};

/** Twenty results of a search, and as many neighbors as a picture has. */
const twentyResults: GraphView = {
  query: 'How do I keep the documents of two customers of the same company apart from each other?',
  nodes: Array.from({ length: 24 }, (_, place) => ({
    id: `${place}`,
    title: `${place}. A heading of a guide that is as long as headings are`,
    source: `docs/guides/page-${place % 7}.md`,
    text: 'A text.',
    ...(place < 10 && { seedScore: 1 - place / 20 }),
  })),
  edges: Array.from({ length: 60 }, (_, place) =>
    edge(`${place % 24}`, `${(place * 7 + 3) % 24}`, 'phrase', 'both name “tenant”', 1),
  ).filter(({ from, to }) => from !== to),
  ranking: Array.from({ length: 20 }, (_, place) => ({ id: `${place}`, score: 1 - place / 25, path: [] })),
};

const attack = `</script><script>window.attacked=1</script><img src=x onerror="window.attacked=2">"'&\u2028`;

/** Every text of it tries to leave its place in the page. */
const hostile: GraphView = {
  query: attack,
  nodes: [
    { id: attack, title: attack, text: attack, source: attack, seedScore: 0.9 },
    { id: '__proto__', title: 'constructor', text: '</textarea></style><svg/onload=window.attacked=3>' },
  ],
  edges: [edge(attack, '__proto__', `x" onmouseover="window.attacked=4`, attack, 1)],
  ranking: [
    { id: attack, score: 1, path: [] },
    { id: '__proto__', score: 0.5, path: [edge(attack, '__proto__', attack, attack, 1)] },
  ],
};

describe('graphToHtml', () => {
  it('contains the script that viewer.ts compiles to', async () => {
    const { bundleViewer } = (await import('../../../../scripts/build-viewer.mjs' as string)) as {
      bundleViewer(): Promise<string>;
    };
    expect(pageScript).toBe(await bundleViewer());
  });

  it('writes the same page for the same view', async () => {
    expect(await graphToHtml(computing)).toBe(await graphToHtml(computing));
  });

  it('asks for nothing from elsewhere', async () => {
    const page = await graphToHtml(computing);
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/<(?:script|img|link|iframe)[^>]+(?:src|href)=/);
  });
});

describe.skipIf(executablePath === undefined)('the page in Chromium', () => {
  let browser: Browser;
  let folder: string;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    // The texts are hostile, the browser is not: without its sandbox it also runs where the user is root.
    browser = await chromium.launch({ executablePath: executablePath as string, args: ['--no-sandbox'] });
    folder = await newFolder();
  });

  afterAll(async () => {
    for (const close of closing) await close();
    await browser.close();
  });

  /** The page opened from a disk, with everything that it complained about or asked for. */
  async function open(view: GraphView, options: Parameters<Browser['newPage']>[0] = {}) {
    const file = join(folder, `${closing.length}.html`);
    await writeFile(file, await graphToHtml(view));
    const page = await browser.newPage({ viewport: { width: 1360, height: 820 }, ...options });
    closing.push(() => page.close());
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    const url = pathToFileURL(file).href;
    await page.goto(url);
    return { page, complaints, requests: requests.filter((request) => request !== url) };
  }

  const openEntries = (page: Page): Promise<string[]> => page.locator('details[open] .title').allTextContents();

  it('draws every passage, keeps its own policy, and asks for nothing', async () => {
    const { page, complaints, requests } = await open(computing);
    expect(await page.locator('#graph canvas').count()).toBeGreaterThan(0);
    expect(await page.title()).toBe(computing.query);
    expect(await page.locator('#found summary .title').allTextContents()).toEqual([
      'Ada Lovelace',
      'The analytical engine',
      'Notes of the translator',
      'Jacquard loom',
      'Luigi Menabrea',
    ]);
    expect(await page.getByRole('img').getAttribute('aria-label')).toContain('9 passages and 11 connections');
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [] });
  });

  it('shows the source of each passage without opening it, and says when no connection led anywhere', async () => {
    const { page } = await open(computing);
    const first = page.locator('#found summary').first();
    expect(await first.locator('.source').textContent()).toBe('people/lovelace.md');
    expect(await first.locator('.source').isVisible()).toBe(true);
    const sentence = 'These results match the query directly';
    expect(await page.getByText(sentence).count()).toBe(0);
    const ranking = computing.ranking.filter(({ path }) => path.length === 0);
    const direct = await open({ ...computing, ranking });
    expect(await direct.page.getByText(sentence).isVisible()).toBe(true);
  });

  it('fits 20 results with long titles into a window of 1280 by 720, with readable labels', async () => {
    const { page } = await open(twentyResults, { viewport: { width: 1280, height: 720 } });
    const { zoom, outside } = (await page.evaluate(`(() => {
      const { cy } = document.getElementById('graph')._cyreg;
      const boxes = cy.nodes().map((node) => node.renderedBoundingBox());
      const outside = boxes.filter(({ x1, y1, x2, y2 }) => x1 < 0 || y1 < 0 || x2 > cy.width() || y2 > cy.height());
      return { zoom: cy.zoom(), outside: outside.length };
    })()`)) as { zoom: number; outside: number };
    expect(outside).toBe(0);
    // Labels of 12 px have at least 9.
    expect(zoom).toBeGreaterThanOrEqual(0.75);
  });

  it('tells why a passage was found, step by step, and leads to the passages of the path', async () => {
    const { page } = await open(computing);
    const entry = page.locator('#found details').nth(3);
    await entry.locator('summary').click();
    expect(await entry.locator('.path li').allTextContents()).toEqual([
      'Ada Lovelace matches the query',
      'phrase: “analytical engine” → The analytical engine',
      'phrase: “punched cards” → Jacquard loom',
    ]);
    await entry.locator('.path a').first().click();
    expect(await openEntries(page)).toEqual(['Ada Lovelace']);
  });

  it('opens the passage that is clicked in the graph', async () => {
    const { page } = await open(computing);
    // The layout decides the position: each point is tried until the entry of a passage opens.
    const box = await page.locator('#graph').boundingBox();
    if (!box) throw new Error('The graph is not shown.');
    let entries: string[] = [];
    for (let y = 20; y < box.height && entries.length === 0; y += 16) {
      for (let x = 170; x < box.width && entries.length === 0; x += 16) {
        await page.mouse.click(box.x + x, box.y + y);
        entries = await openEntries(page);
      }
    }
    expect(entries).toHaveLength(1);
  });

  it('searches the passages, and can be used by the keyboard alone', async () => {
    const { page } = await open(computing);
    await page.getByLabel('Search the passages').fill('punched CARDS');
    expect(await page.getByRole('status').textContent()).toBe('3 passages');
    expect(await page.locator('li:not([hidden]) > details .title').allTextContents()).toEqual([
      'The analytical engine',
      'Jacquard loom',
      'Herman Hollerith',
    ]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await openEntries(page)).toEqual(['The analytical engine']);
    await page.keyboard.press('Escape');
    await expect.poll(() => openEntries(page)).toEqual([]);
  });

  it('follows the color scheme of the reader', async () => {
    const background = async (colorScheme: 'light' | 'dark'): Promise<string> =>
      (await open(computing, { colorScheme })).page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(await background('light')).toBe('rgb(255, 255, 255)');
    expect(await background('dark')).toBe('rgb(20, 23, 28)');
  });

  it('is a readable list where scripts do not run', async () => {
    const { page } = await open(computing, { javaScriptEnabled: false });
    await page.locator('#found summary').last().click();
    expect(await page.getByText('Menabrea described the engine.').isVisible()).toBe(true);
    expect(await page.locator('.stage').isVisible()).toBe(false);
  });

  it('shows hostile text as text', async () => {
    const { page, complaints, requests } = await open(hostile);
    await page.locator('summary').first().click();
    expect(await page.locator('h1').textContent()).toBe(hostile.query);
    expect(await page.locator('details .text').first().textContent()).toBe(hostile.nodes[0]?.text);
    expect(await page.locator('body img, svg').count()).toBe(0);
    expect(await page.evaluate('window.attacked')).toBeUndefined();
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [] });
  });

  it('runs no script that is not its own, should one get in', async () => {
    const { page } = await open(computing);
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.attacked = 1' }))`,
    );
    expect(await page.evaluate('window.attacked')).toBeUndefined();
  });
});
