import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger, escapeForLog, getDefaultLogger, setDefaultLogger, type LogLevel } from './index.js';

const standard = getDefaultLogger();
afterEach(() => setDefaultLogger(standard));

describe('createLogger', () => {
  const messagesAt = (level: LogLevel): string[] => {
    const lines: string[] = [];
    const logger = createLogger({ level, write: (line) => lines.push(line) });
    logger.debug('d');
    logger.info('i');
    logger.warn('w');
    logger.error('e');
    return lines;
  };

  it.each([
    ['debug', ['[quiver] debug: d', '[quiver] info: i', '[quiver] warn: w', '[quiver] error: e']],
    ['warn', ['[quiver] warn: w', '[quiver] error: e']],
    ['silent', []],
  ] as const)('writes level %s and above', (level, lines) => {
    expect(messagesAt(level)).toEqual(lines);
  });

  it('hands over details next to the line', () => {
    const written: unknown[] = [];
    createLogger({ write: (line, details) => written.push([line, details]) }).error('failed', { code: 1 });
    expect(written).toEqual([['[quiver] error: failed', { code: 1 }]]);
  });

  it('escapes what could forge lines, move the cursor or hide text', () => {
    const lines: string[] = [];
    createLogger({ write: (line) => lines.push(line) }).warn(
      'tool\n[quiver] error: forged \u001B[2J \u202Egnp.exe \u200B',
    );
    expect(lines).toEqual(['[quiver] warn: tool\\u000a[quiver] error: forged \\u001b[2J \\u202egnp.exe \\u200b']);
  });

  it('writes to standard error and never to standard output', () => {
    const script = `
      import { getDefaultLogger, createLogger } from '@quiver/core';
      for (const logger of [getDefaultLogger(), createLogger({ level: 'debug' })])
        for (const level of ['debug', 'info', 'warn', 'error']) logger[level](level, { some: 'details' });
    `;
    const hooks = new URL('../../../scripts/source-hooks.mjs', import.meta.url).href;
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ['--conditions=@quiver/source', '--import', hooks, '--input-type=module', '--eval', script],
      { encoding: 'utf8', cwd: new URL('..', import.meta.url) },
    );
    expect(status).toBe(0);
    expect(stdout).toBe('');
    expect(stderr.match(/\[quiver\]/g)).toHaveLength(2 + 4);
  });
});

describe('the default logger', () => {
  it('can be replaced by the application', () => {
    const lines: string[] = [];
    const own = createLogger({ level: 'debug', write: (line) => lines.push(line) });
    setDefaultLogger(own);
    getDefaultLogger().debug('hello');
    expect(lines).toEqual(['[quiver] debug: hello']);
  });
});

describe('escapeForLog', () => {
  it('escapes untrusted text that could forge a line, color the terminal, reverse text or hide', () => {
    expect(escapeForLog('a\nforged\u001B[31mred\u202Eright\u200Bnothing\u2028line\u{E0041}')).toBe(
      'a\\u000aforged\\u001b[31mred\\u202eright\\u200bnothing\\u2028line\\u{e0041}',
    );
  });

  it('returns printable text unchanged', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~äöü你好]*$/), (text) => {
        expect(escapeForLog(text)).toBe(text);
      }),
    );
  });
});
