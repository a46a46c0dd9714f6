import process from 'node:process';

/** What programs need to run at all. Everything else of this process's environment, keys and tokens included, stays here. */
const inherited = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];
const inheritedOnWindows = [
  'APPDATA',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PROCESSOR_ARCHITECTURE',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'USERNAME',
  'USERPROFILE',
];

/** The environment of a server's process: a few inherited variables and those that were given. */
export function createChildEnvironment(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of process.platform === 'win32' ? inheritedOnWindows : inherited) {
    const value = process.env[name];
    // Shells export functions this way; they are code.
    if (value !== undefined && !value.startsWith('()')) environment[name] = value;
  }
  return { ...environment, ...given };
}
