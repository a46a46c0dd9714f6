import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { createStaticTokenValidator } from '@quiver/mcp/auth';
import { expect, it, onTestFinished, vi } from 'vitest';

it.each(['first', 'the third, which is longer', 'firs', 'none', 'x'.repeat(4096)])(
  'a token is compared with every other, as a digest, in every position: %.30s',
  (token) => {
    const compare = vi.spyOn(crypto, 'timingSafeEqual');
    syncBuiltinESMExports();
    onTestFinished(() => {
      compare.mockRestore();
      syncBuiltinESMExports();
    });
    const validate = createStaticTokenValidator(['first', 'second', 'the third, which is longer']);
    const isKnown = token === 'first' || token.startsWith('the third');
    expect(validate(token, 'https://mcp.example.com/mcp')).toMatchObject({ valid: isKnown });
    const lengths = compare.mock.calls.map((digests) => digests.map(({ byteLength }) => byteLength));
    expect(lengths).toEqual(Array.from({ length: 3 }, () => [32, 32]));
  },
);
