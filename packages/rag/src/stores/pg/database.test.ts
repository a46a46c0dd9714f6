import { expect, it, vi } from 'vitest';
import { expectError } from '../../../../../scripts/test-error.ts';
import { toVectorArrayBytes, toVectorBytes } from './database.js';
import { PgVector } from './pg-vector.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

it('writes a vector as its length and numbers of 32 bits, most significant byte first', () => {
  expect(hex(toVectorBytes(Float32Array.of(1, -2.5)))).toBe(['0002', '0000', '3f800000', 'c0200000'].join(''));
});

it('writes vectors as one array of an element type', () => {
  const bytes = toVectorArrayBytes([Float32Array.of(1), Float32Array.of(2)], 4_000_000_000);
  const header = ['00000001', '00000000', 'ee6b2800', '00000002', '00000001'];
  expect(hex(bytes)).toBe([...header, '00000008', '00010000', '3f800000', '00000008', '00010000', '40000000'].join(''));
  expect(hex(toVectorArrayBytes([], 7)).slice(0, 8)).toBe('00000001');
});

it('names the missing package, and can be closed afterwards', async () => {
  vi.doMock('pg', () => {
    throw new Error("Cannot find package 'pg'");
  });
  const store = new PgVector({ connectionString: 'postgres://localhost/app' });
  try {
    await expectError(store.listIndexes(), 'VECTOR_CLIENT_MISSING', 'npm install pg');
  } finally {
    vi.doUnmock('pg');
  }
  await store.close();
});
