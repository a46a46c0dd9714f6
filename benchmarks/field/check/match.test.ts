import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containsAnswer } from '../match.mjs';

const quote =
  'The optimal number of threads depends upon the size of the transform as well as on the number of processors.';
const answer = { source: 'fftw/threads.html', quote };
const contains = (text: string, wanted: object = answer): boolean =>
  containsAnswer({ text, sources: ['fftw/threads.html'] }, wanted);

describe('quotes', () => {
  it('are found in other white space, case and punctuation, and in words cut at the end of a line', () => {
    assert.ok(
      contains(
        `- the optimal num-\nber of threads depends upon\n  the size of the TRANSFORM, as well as on the number of pro\u00ADcessors`,
      ),
    );
  });

  it('are found in Markdown, in HTML, and next to permalinks', () => {
    const markdown = quote.replace('threads', '[**threads**](Threads.html#index "Threads")').replace('size', '`size`¶');
    assert.ok(contains(markdown));
    assert.ok(contains(`<p>${quote.replace('size', '<a href="x">size</a>&nbsp;')}</p>`));
  });

  it('are found around a page break with its footer', () => {
    assert.ok(contains(quote.replace('upon', 'upon\n\n12 FFTW Manual\n\n')));
  });

  it('are not found when a part is missing, in another order, or in another document', () => {
    assert.equal(contains(quote.slice(0, -40)), false);
    assert.equal(contains('as well as on the number of processors: the optimal number of threads'), false);
    assert.equal(containsAnswer({ text: quote, sources: ['fftw/other.html'] }, answer), false);
  });

  it('are found in parts of a document, and at every place of a text that is stored once', () => {
    assert.ok(containsAnswer({ text: quote, sources: ['fftw/threads.html#attachment'] }, answer));
    assert.ok(containsAnswer({ text: quote, sources: ['fftw/copy.html', 'fftw/threads.html'] }, answer));
  });

  it('may leave out text', () => {
    const shortened = { ...answer, quote: 'optimal number of threads … number of processors' };
    assert.ok(contains(quote, shortened));
    assert.equal(contains('number of processors, optimal number of threads', shortened), false);
  });

  it('are found in man pages, with and without their macros', () => {
    const page = { source: 'ssh/ssh.1', quote: '-f Requests ssh to go to background just before command execution' };
    const found = (text: string): boolean => containsAnswer({ text, sources: ['ssh/ssh.1'] }, page);
    assert.ok(found('.It Fl f\nRequests\n.Nm ssh\nto go to background just before command execution.\n.Pp'));
    assert.ok(found('\\fB\\-f\\fP Requests ssh to go to\nbackground just before command execution'));
    assert.ok(found('-f  Requests ssh to go to background just before command execution'));
  });
});

describe('rows', () => {
  const row = {
    source: 'fftw/threads.html',
    row: ['Mongolia', '2005', '65.30'],
    header: ['country', 'life expectancy'],
  };

  it('are found as rows of Markdown, as lines of CSV, and as names with values', () => {
    assert.ok(contains('| country | year | life expectancy |\n| --- | --- | --- |\n| Mongolia | 2005 | 65.3 |', row));
    assert.ok(contains('country,year,life expectancy\nMonaco,2005,80\nMongolia,2005,65.3', row));
    assert.ok(contains('country: Mongolia\nyear: 2005\nlife expectancy: 65.3', row));
  });

  it('are not found without their header, or when the cells are those of several rows', () => {
    assert.equal(contains('| Mongolia | 2005 | 65.3 |', row), false);
    const other = `country,life expectancy\nMongolia,2004,64\n${'Monaco,2004,80\n'.repeat(30)}Nepal,2005,65.3`;
    assert.equal(contains(other, row), false);
    assert.equal(contains('country,year,life expectancy\nMongolia,2005,65.31', row), false);
  });

  it('may have a cell in several forms', () => {
    const dated = { source: 'fftw/threads.html', row: ['Prince', '1958-06-07|21343'] };
    assert.ok(contains('Prince,musician,1958-06-07', dated));
    assert.ok(contains('Prince,musician,21343', dated));
  });
});
