import { describe, expect, test } from 'vitest';
import { summarizeOutput } from './summarize-output.js';

/** Output of programs before they ended. The ones of Node.js run in `crash-message.test.ts`. */
const outputs: [name: string, output: string, summary: string][] = [
  [
    'a Python traceback',
    `Traceback (most recent call last):
  File "/srv/server.py", line 4, in <module>
    main()
  File "/srv/server.py", line 3, in main
    return os.environ['WEATHER_KEY']
           ~~~~~~~~~~^^^^^^^^^^^^^^^
KeyError: 'WEATHER_KEY'
`,
    "KeyError: 'WEATHER_KEY'",
  ],
  [
    'two Python tracebacks',
    `Traceback (most recent call last):
  File "<string>", line 3, in <module>
KeyError: 'WEATHER_KEY'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "<string>", line 5, in <module>
RuntimeError: Set WEATHER_KEY
`,
    "KeyError: 'WEATHER_KEY' | RuntimeError: Set WEATHER_KEY",
  ],
  [
    'a Python exception group',
    `  + Exception Group Traceback (most recent call last):
  |   File "/srv/server.py", line 1, in <module>
  |     run()
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/srv/server.py", line 9, in run
    |     raise ValueError('WEATHER_KEY is not set')
    | ValueError: WEATHER_KEY is not set
    +------------------------------------
`,
    'ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception) | ValueError: WEATHER_KEY is not set',
  ],
  [
    'a missing Python module',
    '/usr/bin/python3: No module named weather\n',
    '/usr/bin/python3: No module named weather',
  ],
  [
    'a missing npm package',
    `npm warn Unknown user config "nodedir". This will stop working in the next major version of npm.
npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/wether - Not found
npm error 404
npm error 404  The requested resource 'wether@*' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /root/.npm/_logs/2026-11-23T08_03_53_510Z-debug-0.log
`,
    "Not Found - GET https://registry.npmjs.org/wether - Not found | The requested resource 'wether@*' could not be found or you do not have permission to access it. | Note that you can also install from a | tarball, folder, http url, or git url.",
  ],
  [
    'a missing script of npm 9',
    `npm ERR! code ENOENT
npm ERR! syscall open
npm ERR! path /srv/package.json
npm ERR! errno -2
npm ERR! enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/srv/package.json'
npm ERR! enoent

npm ERR! A complete log of this run can be found in: /root/.npm/_logs/debug-0.log
`,
    "Could not read package.json: Error: ENOENT: no such file or directory, open '/srv/package.json'",
  ],
  [
    'a Java exception and its cause',
    `Exception in thread "main" java.lang.IllegalStateException: Cannot start
\tat Main.main(Main.java:3)
Caused by: java.net.ConnectException: Connection refused
\tat Main.open(Main.java:9)
`,
    'Exception in thread "main" java.lang.IllegalStateException: Cannot start | java.net.ConnectException: Connection refused',
  ],
  [
    'a Rust panic',
    "\nthread 'main' panicked at src/main.rs:2:5:\nWEATHER_KEY is not set\n",
    "thread 'main' panicked at src/main.rs:2:5: WEATHER_KEY is not set",
  ],
  [
    'an error in color, with a hint',
    '\u001b[31m\u001b[1m❌ Missing WEATHER_KEY\u001b[22m\u001b[39m\r\n\r\n   Get a key at https://weather.example.com/keys\r\n',
    '❌ Missing WEATHER_KEY | Get a key at https://weather.example.com/keys',
  ],
  [
    'a validation error over several lines',
    `ZodError: [
  {
    "path": [
      "WEATHER_KEY"
    ],
    "message": "Required"
  }
]
    at parse (file:///srv/server.js:1:2)
`,
    'ZodError: [ { "path": [ "WEATHER_KEY" ], "message": "Required" } ]',
  ],
  [
    'a long log: the first error, and the last line',
    `${'[12:00:00] INFO working\n'.repeat(40)}[12:00:01] ERROR Missing API key\n[12:00:01] INFO bye\n`,
    '[12:00:01] ERROR Missing API key | [12:00:01] INFO bye',
  ],
  ['nothing', ' \n', ''],
  ['only frames of a stack', '    at main (server.js:1:2)\n', 'at main (server.js:1:2)'],
];

describe('summarizeOutput', () => {
  test.each(outputs)('summarizes %s', (_name, output, summary) => {
    expect(summarizeOutput(output)).toBe(summary);
  });

  test('limits the length of both errors', () => {
    const summary = summarizeOutput(`AError: ${'a'.repeat(900)}\nBError: ${'b'.repeat(900)}`);
    expect(summary).toMatch(/^AError: a{242}… \| BError: b{242}…$/);
  });

  // Quadratic time would be minutes.
  test('reads a million characters in linear time', () => {
    for (const text of ['Error', ' ', '^', 'a.', '[', '| ', '\n^', '\na'])
      expect(summarizeOutput(text.repeat(1_000_000 / text.length)).length).toBeLessThan(600);
  });
});
