import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { drives, majors, toolResultsSeenBy, type Major, type Message } from '../../test/ai-sdk-majors.js';
import { findApprovedCall } from './driver.js';
import { createTool } from './index.js';

function createPayment() {
  const events: unknown[] = [];
  const tool = createTool({
    id: 'pay',
    description: 'Pays an amount',
    // Neither transform may run twice: the second would refuse its own output, the first would silently add to it.
    inputSchema: z.object({ to: z.string().transform((to) => `${to}!`), amount: z.string().transform(Number) }),
    requireApproval: ({ amount }) => amount > 10,
    onInputAvailable: ({ input }) => {
      events.push(['available', input]);
    },
    execute: async (input) => {
      events.push(['execute', input]);
      return { paid: input.amount };
    },
    onOutput: ({ output }) => {
      events.push(['output', output]);
    },
  });
  return { tool, events, names: () => events.map((event) => (event as [string])[0]) };
}

const call = { call: 'pay', input: { to: 'Ann', amount: '50' } };
const prompt: Message = { role: 'user', content: 'pay Ann 50' };

/** Requests approval, answers it, and continues with the conversation that `store` returns. */
async function askAndAnswer(
  major: Major,
  mode: 'generate' | 'stream',
  tool: object,
  approved: boolean,
  store: (messages: Message[]) => Message[],
) {
  const first = major.createModel([call]);
  const asked = await major[mode]({ model: first.model, tools: { pay: tool }, messages: [prompt] });
  const request = asked.content.find((part) => part.type === 'tool-approval-request');
  const approvalId = request?.approvalId ?? 'nothing was asked';
  const answer: Message = { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved }] };
  const messages = store([prompt, ...asked.messages, answer]);
  const second = major.createModel([{ say: 'done' }]);
  const answered = await major[mode]({ model: second.model, tools: { pay: tool }, messages });
  return { asked, request, answered, told: toolResultsSeenBy(second.calls()) };
}

describe.each(drives.filter(({ major }) => major.version > 5))('requireApproval in $name', ({ major, mode }) => {
  it.each([
    ['kept in memory', (messages: Message[]) => messages],
    ['stored as JSON', (messages: Message[]) => JSON.parse(JSON.stringify(messages)) as Message[]],
  ])('pauses, and after a yes runs once with what was approved: conversation %s', async (_name, store) => {
    const { tool, events } = createPayment();
    const { asked, request, answered, told } = await askAndAnswer(major, mode, tool, true, store);
    expect(request).toBeDefined();
    expect(asked.text).toBe('');
    expect(answered.text).toBe('done');
    expect(events).toEqual([
      ['available', { to: 'Ann!', amount: 50 }],
      ['execute', { to: 'Ann!', amount: 50 }],
      ['output', { paid: 50 }],
    ]);
    expect(told).toEqual([{ type: 'json', value: { paid: 50 } }]);
  });

  it('does not run after a no', async () => {
    const { tool, names } = createPayment();
    const { answered } = await askAndAnswer(major, mode, tool, false, (messages) => messages);
    expect(answered.text).toBe('done');
    expect(names()).toEqual(['available']);
  });

  it('does not ask when the function returns false', async () => {
    const { tool, names } = createPayment();
    const { model } = major.createModel([{ ...call, input: { to: 'Ann', amount: '5' } }, { say: 'done' }]);
    const result = await major[mode]({ model, tools: { pay: tool }, prompt: 'go' });
    expect(result.text).toBe('done');
    expect(names()).toEqual(['available', 'execute', 'output']);
  });

  it('does not run an input that was changed after the approval', async () => {
    const { tool, names } = createPayment();
    const forge = (messages: Message[]) =>
      JSON.parse(JSON.stringify(messages).replaceAll('"amount":50', '"amount":5000')) as Message[];
    const { told } = await askAndAnswer(major, mode, tool, true, forge);
    expect(names()).toEqual(['available']);
    expect(told).toMatchObject([{ type: 'error-text' }]);
  });
});

describe.each(drives.filter(({ major }) => major.version === 5))('requireApproval in $name', ({ major, mode }) => {
  it('is refused with a reason, since this major cannot ask', async () => {
    const { tool, names } = createPayment();
    const { model, calls } = major.createModel([call, { say: 'done' }]);
    await major[mode]({ model, tools: { pay: tool }, prompt: 'go' });
    expect(names()).toEqual(['available']);
    expect(toolResultsSeenBy(calls())).toEqual([
      { type: 'error-text', value: expect.stringContaining('AI SDK 5 cannot ask') as string },
    ]);
  });

  it('runs where the function needs no approval', async () => {
    const { tool } = createPayment();
    const { model, calls } = major.createModel([{ ...call, input: { to: 'Ann', amount: '5' } }, { say: 'done' }]);
    await major[mode]({ model, tools: { pay: tool }, prompt: 'go' });
    expect(toolResultsSeenBy(calls())).toEqual([{ type: 'json', value: { paid: 5 } }]);
  });
});

describe('approval settings of a call in AI SDK 7', () => {
  const sdk7 = majors[2] as Major;

  it('are the decision of the caller', async () => {
    const { tool } = createPayment();
    const { model, calls } = sdk7.createModel([call, { say: 'done' }]);
    await sdk7.generate({ model, tools: { pay: tool }, prompt: 'go', toolApproval: { pay: 'approved' } });
    expect(toolResultsSeenBy(calls())).toEqual([{ type: 'json', value: { paid: 50 } }]);
  });
});

describe('findApprovedCall', () => {
  const request = (approvalId: string, toolCallId: string) => ({
    role: 'assistant',
    content: [{ type: 'tool-approval-request', approvalId, toolCallId }],
  });
  const response = (approvalId: string, approved: unknown) => ({
    role: 'tool',
    content: [{ type: 'tool-approval-response', approvalId, approved }],
  });

  it('wants a yes to exactly this call', () => {
    expect(findApprovedCall([request('a', 'c1'), response('a', true)], 'c1')).toBeDefined();
    expect(findApprovedCall([request('a', 'c1'), response('a', false)], 'c1')).toBeUndefined();
    expect(findApprovedCall([request('a', 'c1'), response('a', 'yes')], 'c1')).toBeUndefined();
    expect(findApprovedCall([request('a', 'c1'), response('a', true)], 'c2')).toBeUndefined();
    expect(findApprovedCall([request('a', 'c1'), response('b', true)], 'c1')).toBeUndefined();
    expect(findApprovedCall([request('a', 'c1'), response('a', true), request('b', 'c1')], 'c1')).toBeUndefined();
  });

  it('ignores messages of any other shape', () => {
    expect(findApprovedCall([null, 'text', { content: 'text' }, { content: [null, 1] }, {}], 'c1')).toBeUndefined();
  });
});
