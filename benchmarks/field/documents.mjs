// Fetches the packages of the corpus into a cache, with the ordinary clients of their registries, and copies the files that are read.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { corpus, filesOf, packageOf } from './corpus.mjs';

/** Folder of the downloaded documents. */
export const defaultCache = process.env.QUIVER_FIELD_CACHE ?? join(homedir(), '.cache', 'quiver-field');

/**
 * Returns the documents of the corpus; packages that are not in the cache are downloaded.
 *
 * @param cache - folder outside of the repository
 * @param formats - formats to return; all when empty
 * @returns `folder`, which holds each document at its source; `sources` by format; and `missing`, sentences about packages that
 * could not be fetched
 */
export function readDocuments(cache, formats = []) {
  const folder = join(cache, 'documents');
  const sources = new Map();
  const missing = new Map();
  for (const entry of corpus) {
    if (formats.length > 0 && !formats.includes(entry.format)) continue;
    const files = filesOf(entry);
    const absent = files.filter(({ source }) => !existsSync(join(folder, source)));
    const { registry, name, version } = packageOf(entry);
    if (absent.length > 0 && !missing.has(name)) {
      try {
        fetchFiles({ registry, name, version }, absent, folder);
      } catch (error) {
        const reason = String(error.stderr ?? error.message)
          .trim()
          .split('\n')
          .at(-1);
        missing.set(name, `${name} ${version} (${registry}) cannot be fetched: ${reason}`);
      }
    }
    for (const { source, format } of files) if (existsSync(join(folder, source))) sources.set(source, format);
  }
  return { folder, sources, missing: [...missing.values()] };
}

/** Unpacks these files of a package and copies them to their sources. */
function fetchFiles({ registry, name, version }, files, folder) {
  console.error(`Fetching ${name} ${version} …`);
  const work = mkdtempSync(join(tmpdir(), 'quiver-field-'));
  const run = (command, ...rest) => execFileSync(command, rest, { cwd: work, stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    if (registry === 'deb') run('apt-get', 'download', '--quiet', `${name}=${version}`);
    else run('npm', 'pack', '--silent', `${name}@${version}`);
    const [archive] = readdirSync(work);
    const prefix = registry === 'deb' ? './' : 'package/';
    const paths = files.map(({ path }) => `${prefix}${path}`);
    if (registry === 'deb') run('sh', '-c', 'dpkg-deb --fsys-tarfile "$0" | tar -x "$@"', archive, ...paths);
    else run('tar', '-xzf', archive, ...paths);
    for (const { path, source } of files) copy(join(work, prefix, path), join(folder, source));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function copy(from, to) {
  const content = readFileSync(from);
  mkdirSync(dirname(to), { recursive: true });
  // A run that is stopped leaves no half file.
  writeFileSync(`${to}.part`, from.endsWith('.gz') ? gunzipSync(content) : content);
  renameSync(`${to}.part`, to);
}
