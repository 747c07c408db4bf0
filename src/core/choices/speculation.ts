/** The source of draft tokens: none, or n-grams of the text so far. */
export const SPECULATIONS = ['ngram', 'off'] as const

export type Speculation = (typeof SPECULATIONS)[number]
