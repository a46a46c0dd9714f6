/**
 * The servers whose tools are searched, at pinned versions. `args` and `env` are what a server needs to list its tools; the credentials
 * are not real, and no tool is called.
 */
export const servers = [
  { name: 'everything', from: '@modelcontextprotocol/server-everything@2026.8.31' },
  { name: 'filesystem', from: '@modelcontextprotocol/server-filesystem@2026.8.31', args: ['.'] },
  { name: 'memory', from: '@modelcontextprotocol/server-memory@2026.8.31' },
  {
    name: 'github',
    from: '@modelcontextprotocol/server-github@2025.4.8',
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'none' },
  },
  {
    name: 'slack',
    from: '@modelcontextprotocol/server-slack@2025.4.25',
    env: { SLACK_BOT_TOKEN: 'xoxb-none', SLACK_TEAM_ID: 'T0' },
  },
  { name: 'maps', from: '@modelcontextprotocol/server-google-maps@0.6.2', env: { GOOGLE_MAPS_API_KEY: 'none' } },
  { name: 'playwright', from: '@playwright/mcp@0.0.83' },
  { name: 'chrome', from: 'chrome-devtools-mcp@1.11.0', env: { CI: '1' } },
  { name: 'notion', from: '@notionhq/notion-mcp-server@2.5.2', env: { NOTION_TOKEN: 'ntn_none' } },
  { name: 'kubernetes', from: 'mcp-server-kubernetes@4.1.7' },
  {
    name: 'gitlab',
    from: '@zereight/mcp-gitlab@2.1.64',
    env: {
      GITLAB_PERSONAL_ACCESS_TOKEN: 'none',
      USE_PIPELINE: 'true',
      USE_MILESTONE: 'true',
      USE_GITLAB_WIKI: 'true',
      GITLAB_TOOLSETS: 'all',
    },
  },
  { name: 'firecrawl', from: 'firecrawl-mcp@3.26.0', env: { FIRECRAWL_API_KEY: 'none' } },
  { name: 'tavily', from: 'tavily-mcp@0.2.22', env: { TAVILY_API_KEY: 'none' } },
  { name: 'exa', from: 'exa-mcp-server@3.4.1', env: { EXA_API_KEY: 'none' } },
  { name: 'context7', from: '@upstash/context7-mcp@4.1.1' },
  { name: 'airtable', from: 'airtable-mcp-server@1.14.0', env: { AIRTABLE_API_KEY: 'pat.none' } },
  { name: 'desktop', from: '@wonderwhy-er/desktop-commander@0.2.52' },
  { name: 'brave', from: '@brave/brave-search-mcp-server@2.1.4', env: { BRAVE_API_KEY: 'none' } },
  { name: 'shopify', from: '@shopify/dev-mcp@1.16.0', env: { OPT_OUT_INSTRUMENTATION: 'true' } },
  { name: 'circleci', from: '@circleci/mcp-server-circleci@0.20.0', env: { CIRCLECI_TOKEN: 'none' } },
  { name: 'hubspot', from: '@hubspot/mcp-server@0.4.0', env: { PRIVATE_APP_ACCESS_TOKEN: 'none' } },
  {
    name: 'office',
    from: '@softeria/ms-365-mcp-server@0.155.0',
    args: ['--org-mode'],
    env: { MS365_MCP_CLIENT_ID: 'none' },
  },
];
