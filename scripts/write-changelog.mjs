// Writes the changelog of the documentation, after `changeset version` has written those of the packages. They have the same version.
import { readFileSync, writeFileSync } from 'node:fs';

const page = 'docs/reference/changelog.md';
const [introduction] = readFileSync(page, 'utf8').split('\n## ', 1);
const changes = readFileSync('packages/mcp/CHANGELOG.md', 'utf8').replace(/^# .*\n/, '');
writeFileSync(page, `${introduction}${changes}`);
