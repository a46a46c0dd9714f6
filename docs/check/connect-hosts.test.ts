// The entries of the page about hosts are files that `loadMcpConfig` reads completely.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadMcpConfig } from '@quiver/mcp/client';
import { readCodeBlocks } from './code-blocks.ts';

const page = readFileSync(new URL('../guides/connect-hosts.md', import.meta.url), 'utf8');
const entries = readCodeBlocks(page).filter(({ language }) => language === 'json');

test('the entries of all hosts are read', async () => {
  assert.ok(entries.length >= 8);
  const folder = await mkdtemp(join(tmpdir(), 'quiver-hosts-'));
  try {
    for (const { code, line } of entries) {
      const file = join(folder, `line-${line + 1}.json`);
      await writeFile(file, code);
      const { servers } = await loadMcpConfig(file, {
        inputs: { key: 'value' },
        onSkip: ({ key, reason, error }) => assert.fail(`line ${line + 1}: ${error?.message ?? `${key} ${reason}`}`),
      });
      assert.notEqual(Object.keys(servers).length, 0);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
