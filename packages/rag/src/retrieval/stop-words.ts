/** English words without information about the subject of a text. They are neither terms nor the beginning of names. */
export const stopWords: ReadonlySet<string> = new Set(
  (
    'a an the of and or to in on for with by at from as is are was were be been it its this that these those which who whom what when where how why ' +
    'do does did has have had not no but if than then there their they he she his her him we you i my our your into over under between about also ' +
    'can could would should may might will shall such other more most some any each all one two'
  ).split(' '),
);
