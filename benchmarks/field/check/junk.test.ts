import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countFlaws, kindOfJunk } from '../junk.mjs';
import { findJunk } from '../measure.mjs';

const sentence = 'A deque is a generalization of stacks and queues, and supports appends from either side.';

describe('kindOfJunk', () => {
  const kinds: Record<string, readonly string[]> = {
    separator: ['| --- | --- |', '----\n\n====', '|  |  |'],
    short: ['see below', 'a = 10', '**Note:** yes'],
    heading: [
      '# Containers',
      '## 8.3 Containers\n\n### deque objects',
      'Container datatypes',
      '8.3. Container datatypes\n=====\n',
    ],
    contents: [
      'Introduction .......... 3\nContainers . . . . . . . 12\nIndex .......... 40',
      '1 Introduction\n2 Containers\n2.1 Deques\n2.2 Counters\n3 Data classes',
      'Table of Contents\n\ncollections — Container datatypes\nChainMap objects\nCounter objects\ndeque objects',
    ],
    navigation: [
      '[Home](index.html) | [Guide](guide.html) | [Reference](reference.html)\n[Next](b.html)\n[Previous](a.html)',
      'Navigation\nindex\nmodules |\nnext |\nprevious |\nPython »\n3.11.2 Documentation »',
      'This Page\n\nReport a Bug\nShow Source\n\nNext topic\n\nData types of the library',
    ],
  };
  for (const [kind, texts] of Object.entries(kinds)) {
    it(`recognizes: ${kind}`, () => {
      for (const text of texts) assert.equal(kindOfJunk(text), kind, text);
    });
  }

  it('accepts text, code, rows and lists with content', () => {
    const rows = '| name | age |\n| --- | --- |\n| Alan | 25 |\n| George | 32 |\n| Fred | 12 |';
    const list =
      '1. Stop the server with `pg_ctl stop`.\n2. Copy the folder to the other disk.\n3. Start the server again.';
    const code = 'const wss1 = new WebSocketServer({ noServer: true });\nconst wss2 = new WebSocketServer();';
    const linked = `## deque objects\n\n[A deque](deque.html) is a generalization of [stacks](stack.html) and queues.`;
    for (const text of [sentence, `# Deques\n\n${sentence}`, rows, list, code, linked]) {
      assert.equal(kindOfJunk(text), undefined, text);
    }
  });
});

describe('findJunk', () => {
  it('counts a passage that was shown before', () => {
    assert.deepEqual(findJunk([{ text: sentence }, { text: `${sentence}\n` }]), [undefined, 'duplicate']);
  });
});

describe('countFlaws', () => {
  it('counts terms that are cut from their definition, copies, permalinks and rows without a header', () => {
    const flaws = countFlaws([
      { text: `${sentence}\n\nHISTSIZE` },
      { text: `${sentence}\n\nclass collections.deque¶` },
      { text: sentence },
      { text: sentence },
      { text: '| Alan | 25 | Main Street in the old town |\n| George | 32 | the new houses on the hill |' },
    ]);
    const { cutTerm, duplicate, permalink, rowsWithoutHeader } = flaws;
    assert.deepEqual(
      { cutTerm, duplicate, permalink, rowsWithoutHeader },
      { cutTerm: 2, duplicate: 1, permalink: 1, rowsWithoutHeader: 1 },
    );
  });
});
