import { describe, expectTypeOf, it } from 'vitest';
import { RequestContext } from './index.js';

describe('types of RequestContext', () => {
  it('knows its declared keys and allows others', () => {
    const context = new RequestContext<{ topK: number; tenantId: string }>();
    context.set('topK', 5).set('tenantId', 'acme').set('something-else', new Date());
    // @ts-expect-error topK is a number
    context.set('topK', 'five');
    expectTypeOf(context.get('topK')).toEqualTypeOf<number>();
    expectTypeOf(context.get('something-else')).toEqualTypeOf<unknown>();
  });

  it('starts with an object whose declared keys have their types', () => {
    const context = new RequestContext<{ topK: number }>({ topK: 5, 'something-else': true });
    expectTypeOf(context.get('topK')).toEqualTypeOf<number>();
    // @ts-expect-error topK is a number
    void new RequestContext<{ topK: number }>({ topK: 'five' });
    // oxlint-disable-next-line typescript/no-explicit-any -- that is the assertion
    expectTypeOf(new RequestContext({ topK: 5 }).get('other')).toEqualTypeOf<any>();
  });

  it('is untyped without declared keys, as a Map of any', () => {
    // oxlint-disable-next-line typescript/no-explicit-any -- that is the assertion
    expectTypeOf(new RequestContext().get('tenantId')).toEqualTypeOf<any>();
  });
});
