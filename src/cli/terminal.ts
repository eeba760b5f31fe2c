/** Control characters and direction marks would act in a terminal; evidence is text from outside. */
const active = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

export const printable = (value: string): string => value.replace(active, '·');

/** The value as one line of JSON; what JSON.stringify leaves as it is and a terminal would act on is escaped too. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replace(active, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
