/** Names that programs write in place of a title. */
const generated =
  /^(?:(?:presentation|präsentation|présentation|presentación|document|dokument|book|mappe|classeur|slide|folie|untitled|unnamed|new)[\s_-]?\d*|(?:untitled|new|word|pptxgenjs|powerpoint|microsoft (?:word|powerpoint|excel)|openoffice|libreoffice)[\s-]*(?:document|presentation|präsentation|spreadsheet)?|microsoft (?:word|powerpoint|excel) - .*|(?:click to )?(?:add|edit) (?:master )?title(?: style)?|no title|title|\.|-+)$/i;

/** Returns whether an author wrote the title, and not a program. */
export function isTitle(title: string): boolean {
  return /\p{L}/u.test(title) && !generated.test(title.trim());
}
