import { defineComponent, h, onMounted, ref } from 'vue';

/** An entry of the page of errors: the paragraph that starts with the code, and its messages. */
function readEntries(): HTMLElement[][] {
  const entries: HTMLElement[][] = [];
  for (const element of document.querySelectorAll<HTMLElement>(
    '.vp-doc [data-error], .vp-doc [data-error] + blockquote',
  )) {
    if (element.tagName === 'P') entries.push([]);
    entries.at(-1)?.push(element);
  }
  return entries;
}

/** A field that hides the errors in which not all of its words occur. */
export const ErrorFilter = defineComponent(() => {
  const shown = ref('');
  let entries: HTMLElement[][] = [];
  const filter = (text: string): void => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const entry of entries) {
      const content = entry
        .map(({ textContent }) => textContent)
        .join(' ')
        .toLowerCase();
      const isShown = words.every((word) => content.includes(word));
      if (isShown) count += 1;
      for (const element of entry) element.hidden = !isShown;
    }
    shown.value = words.length === 0 ? '' : `${count} of ${entries.length} errors`;
  };
  onMounted(() => (entries = readEntries()));
  return () =>
    h('p', { class: 'error-filter' }, [
      h('input', {
        type: 'search',
        'aria-label': 'Filter errors',
        placeholder: 'Code or words of a message',
        onInput: ({ target }: Event) => filter((target as HTMLInputElement).value),
      }),
      h('span', { role: 'status' }, shown.value),
    ]);
});
