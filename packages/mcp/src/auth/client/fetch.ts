/** As much of `fetch` as OAuth takes. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;
