import { defineComponent, h, ref } from 'vue';

/** The field of the page of errors. It hides the errors without all of its words, and the headings while there are words. */
export const ErrorFilter = defineComponent(() => {
  const shown = ref('');
  const filter = (field: HTMLInputElement): void => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isWanted = (error: Element): boolean => {
      // The paragraph with the code, and its messages.
      const text = `${error.textContent} ${error.nextElementSibling?.textContent}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    let isShown = words.length === 0;
    let [count, total] = [0, 0];
    for (let element = field.parentElement?.nextElementSibling; element; element = element.nextElementSibling) {
      const isError = element.hasAttribute('data-error');
      if (isError) isShown = isWanted(element);
      else if (element.tagName !== 'BLOCKQUOTE') isShown = words.length === 0;
      (element as HTMLElement).hidden = !isShown;
      if (isError) total += 1;
      if (isError && isShown) count += 1;
    }
    shown.value = words.length === 0 ? '' : `${count} of ${total} errors`;
  };
  return () =>
    h('p', { class: 'error-filter' }, [
      h('input', {
        type: 'search',
        'aria-label': 'Filter errors',
        placeholder: 'Code or words of a message',
        onInput: ({ target }: Event) => filter(target as HTMLInputElement),
      }),
      h('span', { role: 'status' }, shown.value),
    ]);
});
