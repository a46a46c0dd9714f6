import { strToU8, zipSync, type Zippable } from 'fflate';
import { describe, expect, test } from 'vitest';
import { docx } from './archives.fixture.js';
import { loadDocument, type LoadDocumentOptions } from '../load-document.js';

const formats = ['docx', 'pptx', 'xlsx', 'odt', 'epub'] as const;
type Format = (typeof formats)[number];

/** The file of each format whose text is read first. */
const mainFiles: Readonly<Record<Format, string>> = {
  docx: 'word/document.xml',
  pptx: 'ppt/presentation.xml',
  xlsx: 'xl/worksheets/sheet1.xml',
  odt: 'content.xml',
  epub: 'META-INF/container.xml',
};

const unzippable = /^DOCUMENT_(?:UNREADABLE|EMPTY|TOO_LARGE|ENCRYPTED)$/;

async function codeOf(format: Format, bytes: Uint8Array, options: LoadDocumentOptions = {}): Promise<string> {
  const result = await loadDocument(bytes, { name: `file.${format}`, ...options }).catch((error: unknown) => error);
  return (result as { code?: string }).code ?? 'loaded';
}

function withFile(format: Format, content: Uint8Array, more: Zippable = {}): Uint8Array {
  return zipSync({ [mainFiles[format]]: content, ...more });
}

const odt = (text: string, prolog = ''): Uint8Array =>
  withFile('odt', strToU8(`${prolog}<office:d><office:body><text:p>${text}</text:p></office:body></office:d>`));

describe.each(formats)('a damaged .%s file', (format) => {
  const valid = withFile(format, strToU8('<a/>'));

  test.each([
    ['an empty file', new Uint8Array()],
    ['text', strToU8('This is not an archive.')],
    ['a PDF', strToU8('%PDF-1.4 something')],
    ['an archive without its parts', zipSync({ 'a.txt': strToU8('x') })],
    ['an empty archive', zipSync({})],
    ['an archive that ends early', valid.subarray(0, valid.length - 30)],
    ['an archive without its beginning', valid.subarray(20)],
    ['an old Office file', new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0])],
    ['XML that ends early', withFile(format, strToU8('<a><b>text'))],
    ['no XML', withFile(format, new Uint8Array([1, 2, 3, 255]))],
  ])('is reported: %s', async (_, bytes) => {
    expect(await codeOf(format, bytes)).toMatch(unzippable);
  });

  test('is reported when it unpacks to too much', async () => {
    const bomb = withFile(format, new Uint8Array(500_000));
    expect(bomb.length).toBeLessThan(10_000);
    expect(await codeOf(format, bomb, { maxFileSize: 10_000 })).toBe('DOCUMENT_TOO_LARGE');
  });

  test('is reported when its directory names a smaller size than it unpacks to', async () => {
    const bomb = withFile(format, new Uint8Array(500_000));
    const view = new DataView(bomb.buffer);
    const directory = view.getUint32(bomb.length - 6, true);
    view.setUint32(directory + 24, 100, true);
    expect(await codeOf(format, bomb, { maxFileSize: 10_000 })).toBe('DOCUMENT_TOO_LARGE');
    expect(await codeOf(format, bomb)).toBe('DOCUMENT_UNREADABLE');
  });

  test('is reported for every single wrong byte', async () => {
    for (let at = 0; at < valid.length; at += 1) {
      const bytes = valid.slice();
      bytes[at] = bytes[at]! ^ 0xff;
      expect(await codeOf(format, bytes), `byte ${at}`).toMatch(unzippable);
    }
  });
});

describe('hostile XML', () => {
  const bombs =
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]>';
  const external = '<!DOCTYPE x [<!ENTITY c SYSTEM "file:///etc/hostname">]>';

  test.each([bombs, external])('does not expand entities: %s', async (prolog) => {
    const [document] = await loadDocument(odt('x &c; &amp; &#65;', prolog), { name: 'a.odt' });
    expect(document!.getText()[0]).toBe('x &c; & A');
    const word = await loadDocument(docx('<w:p><w:r><w:t>x &c; y</w:t></w:r></w:p>', prolog), { name: 'a.docx' }).then(
      ([loaded]) => loaded!.getText().join(''),
      (error: unknown) => (error as { code: string }).code,
    );
    expect(word).toMatch(/^(?:x .{0,3} ?y|DOCUMENT_UNREADABLE)$/);
  });

  test('reads or reports 3,000 and 20,000 nested elements', async () => {
    const nested = (count: number): string => `${'<text:span>'.repeat(count)}word${'</text:span>'.repeat(count)}`;
    expect((await loadDocument(odt(nested(3000)), { name: 'a.odt' }))[0]?.getText()).toEqual(['word']);
    expect(await codeOf('odt', odt(nested(20_000)))).toBe('DOCUMENT_LIMIT_EXCEEDED');
    const deep = `${'<w:ins>'.repeat(3000)}<w:r><w:t>x</w:t></w:r>${'</w:ins>'.repeat(3000)}`;
    expect(await codeOf('docx', docx(`<w:p>${deep}</w:p>`))).toMatch(/^(?:loaded|DOCUMENT_UNREADABLE)$/);
  });

  test('stops for its signal while it unpacks', async () => {
    const controller = new AbortController();
    const bytes = withFile('odt', new Uint8Array(20_000_000));
    const result = loadDocument(bytes, { name: 'a.odt', signal: controller.signal });
    controller.abort(new Error('stop'));
    await expect(result).rejects.toThrow('stop');
  });
});

test('archives in one email share the limit of what they unpack to', async () => {
  const xml = '<office:document-content><office:body><text:p>word</text:p></office:body></office:document-content>';
  const archive = zipSync({ 'content.xml': strToU8(xml + ' '.repeat(40_000)) });
  const part = [
    '--b',
    'Content-Type: application/vnd.oasis.opendocument.text',
    'Content-Transfer-Encoding: base64',
    'Content-Disposition: attachment; filename=a.odt',
    '',
    Buffer.from(archive).toString('base64'),
  ];
  const mail = ['Subject: x', 'Content-Type: multipart/mixed; boundary=b', '', ...part, ...part, ...part, '--b--'];
  const reasons: string[] = [];
  const onSkip = ({ reason }: { reason: string }): void => void reasons.push(reason);
  const documents = await loadDocument(strToU8(mail.join('\r\n')), { name: 'a.eml', maxFileSize: 10_000, onSkip });
  expect(documents).toHaveLength(3);
  expect(reasons).toEqual(['too large']);
});
