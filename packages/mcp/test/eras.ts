/** Protocol versions until 2025-11-25, with sessions, and from 2026-07-28 on, without. */
export const eras = ['legacy', 'modern'] as const;
