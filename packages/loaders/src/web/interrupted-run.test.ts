import { spawn } from 'node:child_process';
import { appendFile, readFile, stat } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newFolder } from '../../../../scripts/test-folder.ts';
import { loadPages } from './load-pages.js';
import { readPageState, writePageState, type PageState } from './page-state.js';

let folder: string;
let path: string;
let requests: { url: string; headers: IncomingHttpHeaders }[];
let isSlow: boolean;

const long = 'x'.repeat(2_000_000);
const site = createServer((request, response) => {
  const { url = '', headers } = request;
  requests.push({ url, headers });
  if (url === '/5' && isSlow) return;
  const isSame = headers['if-none-match'] === `"${url}"`;
  response.writeHead(isSame ? 304 : 200, { etag: `"${url}"`, 'content-type': 'text/plain' });
  response.end(isSame ? undefined : url === '/1' ? long : `Text of ${url}.`);
});
let origin: string;

beforeEach(async () => {
  requests = [];
  isSlow = true;
  folder = await newFolder();
  path = join(folder, 'pages.jsonl');
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterEach(async () => {
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
});

const paths = Array.from({ length: 8 }, (_, index) => `/${index}`);
const options = { allowPrivateAddresses: true, robots: false };

/** Loads the pages in another process, and interrupts it as a user does, after it has returned pages 0 to 4. */
async function interruptRun(signal: NodeJS.Signals): Promise<void> {
  const program = `
    const { loadPages, readPageState } = await import(${JSON.stringify(join(import.meta.dirname, '../index.ts'))});
    const state = await readPageState(${JSON.stringify(path)});
    const urls = ${JSON.stringify(paths.map((name) => origin + name))};
    for await (const { sources } of loadPages(urls, { ...${JSON.stringify(options)}, state })) console.log(sources[0].metadata.source);
  `;
  const hooks = join(import.meta.dirname, '../../../../scripts/source-hooks.mjs');
  const child = spawn(process.execPath, [
    '--conditions=@quiver/source',
    '--import',
    hooks,
    '--input-type=module',
    '--eval',
    program,
  ]);
  const ended = new Promise((resolve) => child.on('close', resolve));
  for await (const line of createInterface(child.stdout)) if (line.endsWith('/4')) child.kill(signal);
  await ended;
}

/** Loads all pages, and returns their texts. */
async function run(state: PageState): Promise<string[]> {
  const texts: string[] = [];
  const urls = paths.map((name) => origin + name);
  for await (const document of loadPages(urls, { ...options, state, onSkip: () => undefined }))
    texts.push(...document.getText());
  return texts;
}

const texts = paths.map((name) => (name === '/1' ? long : `Text of ${name}.`));
const requested = (): string[] => requests.map(({ url }) => url).toSorted();

test.each(['SIGINT', 'SIGKILL'] as const)('a crawl continues after %s where it ended', async (signal) => {
  await interruptRun(signal);
  isSlow = false;
  requests = [];
  const state = await readPageState(path);
  expect(await run(state)).toEqual(texts);
  // Of long texts, nothing is kept, so that the page is loaded as a whole.
  expect(requested()).toEqual(['/1', '/5', '/6', '/7']);
  expect(requests.find(({ url }) => url === '/1')?.headers).not.toHaveProperty('if-none-match');

  // The file no longer has texts, and the next run asks for changes.
  await writePageState(path, state);
  expect((await stat(path)).size).toBeLessThan(2_000);
  requests = [];
  const later = await readPageState(path);
  expect(await run(later)).toEqual([]);
  expect(requested()).toEqual(paths);
});

test('a run that found unchanged pages continues without requests for them', async () => {
  isSlow = false;
  const first = await readPageState(path);
  await run(first);
  await writePageState(path, first);
  await run(await readPageState(path));
  requests = [];
  expect(await run(await readPageState(path))).toEqual([]);
  expect(requests).toEqual([]);
});

test('pages of a run that was interrupted a day ago are requested again, and returned if they have not changed', async () => {
  await interruptRun('SIGKILL');
  isSlow = false;
  requests = [];
  const state = await readPageState(path);
  for (const { unfinished } of state.values()) if (unfinished) unfinished.time -= 86_400_001;
  expect(await run(state)).toEqual(texts);
  expect(requested()).toEqual(paths);
  expect(requests.find(({ url }) => url === '/0')?.headers['if-none-match']).toBe('"/0"');
});

test('a line that was cut off is removed before the next one is added', async () => {
  await writePageState(path, new Map([[`${origin}/0`, { etag: '"/0"' }]]));
  await appendFile(path, '{"url":"http://a/","et');
  isSlow = false;
  const state = await readPageState(path);
  expect([...state.keys()]).toEqual([`${origin}/0`]);
  await run(state);
  expect((await readFile(path, 'utf8')).split('\n').filter((line) => line.includes('http://a/'))).toEqual([]);
  expect((await readPageState(path)).size).toBe(8);
});
