import { worded } from './wording.ts';

/** Languages in which a person can read Faultline. English is always present; others fall back to it. */
export type Language = 'en' | 'zh-CN';

/** A sentence in every language it exists in. */
export type Text = { en: string } & Partial<Record<Language, string>>;

export const text = (en: string): Text => ({ en: worded(en) });

export const inLanguage = (sentence: Text, language: Language): string => sentence[language] ?? sentence.en;
