import { describe, expect, test, vi } from 'vitest';
import { errorOf } from '../../../test/error-of.ts';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import { createRequestStateCodec, loadSharedKey, type RequestState, type RequestStateCodec } from './request-state.js';

const state: RequestState = {
  id: 'i',
  call: 'c',
  round: 1,
  asked: { a: 'q' },
  answers: { b: { question: 'p', answer: 'Ada' } },
};
const key = 'k'.repeat(32);

describe('the state of a call that asks', () => {
  test('returns the state unchanged, within its lifetime and binding', async () => {
    let time = 0;
    const codec = createRequestStateCodec({ key, ttlSeconds: 60 }, undefined, () => time);
    const text = await codec.mint(state, 'tools/call ada');
    time = 59_000;
    expect(await codec.verify(text, 'tools/call ada')).toEqual(state);
    await expect(codec.verify(text, 'tools/call bob')).rejects.toMatchObject({ code: -32602 });
    time = 61_000;
    await expect(codec.verify(text, 'tools/call ada')).rejects.toMatchObject({ code: -32602 });
  });

  test('is read by every instance with the same key, and by no other', async () => {
    const text = await createRequestStateCodec({ key }).mint(state, 'b');
    expect(await createRequestStateCodec({ key: new TextEncoder().encode(key) }).verify(text, 'b')).toEqual(state);
    await expect(createRequestStateCodec({ key: 'x'.repeat(32) }).verify(text, 'b')).rejects.toMatchObject({
      code: -32602,
      message: 'Invalid requestState: it was changed, has expired, or belongs to another caller. Start the call again.',
    });
    await expect(createRequestStateCodec().verify(text, 'b')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(
        /issued before the server restarted: its key is random without requestState: \{ key \}/,
      ),
    });
  });

  test('is rejected when a character was changed or the header claims no signature', async () => {
    const codec = createRequestStateCodec({ key });
    const text = await codec.mint(state, 'b');
    for (let at = 0; at < text.length; at += 7) {
      // 'B' in place of 'A' changes only unused bits of the last character.
      const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'Q' : 'A'}${text.slice(at + 1)}`;
      await expect(codec.verify(changed, 'b')).rejects.toMatchObject({ code: -32602 });
    }
    const [, payload = ''] = text.split('.');
    const unsigned = `${btoa('{"alg":"none"}').replaceAll('=', '')}.${payload}.`;
    for (const wrong of [unsigned, '', 'a.b.c', 7, null, undefined, {}])
      await expect(codec.verify(wrong, 'b')).rejects.toMatchObject({ code: -32602 });
  });

  test('is signed with one key for all instances that share a store, made by the first', async () => {
    const store = new InMemoryStore();
    const create = (server = 'weather'): RequestStateCodec =>
      createRequestStateCodec({}, () => loadSharedKey(store, server));
    const [one, two] = [create(), create()];
    const [text, other] = await Promise.all([one.mint(state, 'b'), two.mint(state, 'b')]);
    expect(await two.verify(text, 'b')).toEqual(state);
    expect(await one.verify(other, 'b')).toEqual(state);
    await expect(create('maps').verify(text, 'b')).rejects.toMatchObject({ code: -32602 });
  });

  test('is not called invalid while the key cannot be read', async () => {
    const store = new InMemoryStore();
    const codec = createRequestStateCodec({}, () => loadSharedKey(store, 'weather'));
    const put = vi.spyOn(store, 'put').mockRejectedValueOnce(new Error('down'));
    await expect(codec.verify('text', 'b')).rejects.toThrow('down');
    put.mockRestore();
    await store.put('request-state-key/weather', '[1,2]');
    await expect(codec.mint(state, 'b')).rejects.toMatchObject({ code: 'SHARED_KEY_INVALID' });
  });

  test('needs a key of 32 bytes', () => {
    expect(() => createRequestStateCodec({ key: 'short' })).toThrow(errorOf('OPTIONS_INVALID'));
  });
});
