import DefaultTheme from 'vitepress/theme';
// oxlint-disable-next-line import/no-unassigned-import -- VitePress takes styles from the theme
import './wide.css';

export default DefaultTheme;
