import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { ErrorFilter } from './error-filter.ts';
// oxlint-disable-next-line import/no-unassigned-import -- VitePress takes styles from the theme
import './wide.css';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component('ErrorFilter', ErrorFilter),
} satisfies Theme;
