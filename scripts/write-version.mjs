// Writes the version of @quiver/mcp into its sources, after `changeset version` has changed it. MCPClient sends the version to servers.
import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('packages/mcp/package.json', 'utf8'));
const file = 'packages/mcp/src/client/config/client-info.ts';
writeFileSync(file, readFileSync(file, 'utf8').replace(/(name: 'quiver', version: )'[^']*'/, `$1'${version}'`));
