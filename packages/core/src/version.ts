/** The build replaces it by the version in the manifest. */
declare const QUIVER_VERSION: string | undefined;

/** Version of the packages, which is the same for all of them. */
export const packageVersion: string = typeof QUIVER_VERSION === 'undefined' ? '0.0.0-source' : QUIVER_VERSION;
