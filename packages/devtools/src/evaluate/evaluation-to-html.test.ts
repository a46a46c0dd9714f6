import { chromium } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
import { evaluationToHtml } from './evaluation-to-html.js';
import type { ConfigurationReport, Evaluation, QuestionReport } from '@quiver/rag/evaluate';

const executablePath = readTestVariable('QUIVER_CHROMIUM');
const hostile = `</style><script>document.title = 'changed'</script><img src=x onerror="document.title = 'changed'">'"&`;

const question = (text: string, value: number): QuestionReport => ({
  question: text,
  values: { recallAt5: value },
  confidence: value,
  milliseconds: 1,
  contextCharacters: 10,
  missed: value < 1 ? [`the quote “${hostile}”`] : [],
  results: [
    { id: hostile, text: hostile, isRelevant: false },
    { source: `${hostile}${'long'.repeat(100)}`, score: 0.5, text: 'a text '.repeat(40), isRelevant: true },
  ],
});
const report = (name: string, values: readonly number[]): ConfigurationReport => ({
  name,
  topK: 5,
  metrics: { recallAt5: { mean: 0.5, low: 0.25, high: 0.75 } },
  latency: { p50: 1, p95: 2 },
  cost: { calls: 3, tokens: 17 },
  contextCharacters: 10,
  questions: values.map((value, index) => question(`Question ${index}? ${hostile}`, value)),
});
const evaluation: Evaluation = {
  cases: 3,
  metrics: ['recallAt5'],
  configurations: [report('keyword', [1, 0.5, 1]), report(hostile, [1, 1, 0])],
  comparisons: [
    {
      metric: 'recallAt5',
      baseline: 'keyword',
      configuration: hostile,
      difference: { mean: -0.1, low: -0.5, high: 0.2 },
      wins: 1,
      losses: 1,
      isSignificant: false,
    },
  ],
};

describe('evaluationToHtml', () => {
  it('contains every figure and question, the worst first, and no markup of their texts', () => {
    const page = evaluationToHtml(evaluation, { title: hostile });
    for (const text of ['0.500', '0.25–0.75', '17', 'recall@5', '✗ missed the quote', 'better for 1 questions'])
      expect(page).toContain(text);
    expect(page).not.toMatch(/<script|<img|<link|<iframe/);
    expect(page).toContain("default-src 'none'");
    expect([...page.matchAll(/class="question">Question (\d)/g)].map(([, number]) => number)).toEqual(['2', '1', '0']);
  });

  it('shows the separation, and configurations with the same results', () => {
    expect(evaluationToHtml(evaluation)).not.toContain('AUC');
    const [first, second] = evaluation.configurations as [ConfigurationReport, ConfigurationReport];
    const separation = { auc: 0.9375, unanswerable: [{ question: 'Who wrote Tosca?', confidence: 0.1 }] };
    const page = evaluationToHtml({
      ...evaluation,
      configurations: [
        { ...first, separation },
        { ...second, identicalTo: hostile },
      ],
    });
    expect(page).toContain('<th scope="col">AUC</th>');
    expect(page).toContain('<td>0.938</td>');
    expect(page).toContain('identical to &lt;/style&gt;');
  });

  it('limits the questions and reports it', () => {
    const one = report('keyword', [0, ...Array<number>(501).fill(1)]);
    const page = evaluationToHtml({ ...evaluation, cases: 502, configurations: [one], comparisons: [] });
    expect(page).toContain('2 more questions are not shown.');
    expect(page).toContain('Question 499?');
    expect(page).not.toContain('Question 500?');
  });

  it.skipIf(executablePath === undefined)('works in Chromium without scripts, on a phone, too', async () => {
    const browser = await chromium.launch({ executablePath: executablePath as string, args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('request', (request) => complaints.push(request.url()));
      await page.setContent(evaluationToHtml(evaluation, { title: 'Guides' }));
      expect(await page.title()).toBe('Guides');
      const widths = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
      await page.locator('.questions summary').first().click();
      expect(await page.evaluate(widths)).toBe(true);
      expect(await page.locator('.questions > li:visible').count()).toBe(3);
      await page.getByLabel('Only questions with a miss').check();
      expect(await page.locator('.questions > li:visible').count()).toBe(2);
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
