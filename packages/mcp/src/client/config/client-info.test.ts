import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { defaultClientInfo } from './client-info.js';

test('reports the version of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(defaultClientInfo.version).toBe(version);
});
