/** What this side calls itself. */
export const clientInfo = { name: 'quiver', version: '1.0.0' };
