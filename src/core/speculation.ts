/** Where guesses of the next tokens come from: nowhere, or the text so far. */
export const SPECULATIONS = ['ngram', 'off'] as const

export type Speculation = (typeof SPECULATIONS)[number]
