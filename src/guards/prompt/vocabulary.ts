/**
 * The words that the rules are made of, by concept, as data: terms between bars, `*` for any ending. Concepts of
 * English stand by themselves, because its word order tells an order from a tale; `x` ones hold all other languages.
 */
import { ENGLISH } from './english-words.ts'
import { foldTerm } from './fold.ts'
import { OTHERS } from './other-words.ts'

/** Terms of reversed text: the order of words is reversed too, which the rules of other languages do not mind. */
const REVERSED = {
  xIgnore: 'ignore|disregard|forget',
  xPrior: 'previous|prior|above|your',
  xAll: 'all',
  xRules: 'instructions|rules|guidelines',
  xReveal: 'reveal|print|show',
  xYour: 'your',
  xSystemPrompt: 'system prompt',
} as const

/** Concepts whose words are also met in rot13. */
const ROTATED = [
  'ignore',
  'prior',
  'revealHard',
  'your',
  'rules',
  'ownRules',
  'reveal',
  'systemPrompt',
  'theirs',
  'everything',
  'toldBefore',
  'unrestricted',
  'persona',
] as const

export type Concept = keyof typeof ENGLISH | keyof typeof OTHERS | LabelConcept

/** Found by their place in the text, not by the word alone. */
export type LabelConcept = 'systemLabel' | 'assistantLabel'

const LABELS: Readonly<Record<LabelConcept, string>> = {
  systemLabel:
    'system|system message|system prompt|system override|system note|system instruction|system instructions|system notice|system update|system alert|admin|administrator|developer|sistema|systeme|система|systemnachricht|系统|システム|시스템|sistem|root|' +
    'begin system instructions|begin system message|begin system prompt|new system message|system command|developer message|operator|system directive',
  assistantLabel: 'response|assistant|ai|model|bot|assistent|chatgpt|gpt',
}

/** All concepts; the rules know them by their places here. */
export const CONCEPTS = Object.keys({ ...ENGLISH, ...OTHERS, ...LABELS }) as readonly Concept[]

export interface Term {
  readonly text: string
  readonly isStem: boolean
  readonly concept: Concept
}

export function isLabel(concept: Concept): concept is LabelConcept {
  return concept in LABELS
}

export function readVocabulary(): Term[] {
  const terms: Term[] = []
  const add = (
    concept: Concept,
    words: string,
    disguise: (word: string) => string = (word) => word,
  ): void => {
    for (const word of words.split('|')) {
      const isStem = word.endsWith('*')
      const text = foldTerm(disguise(word.replaceAll('*', '')))
      if (text !== '') terms.push({ text, isStem, concept })
    }
  }
  for (const [concept, words] of Object.entries({ ...ENGLISH, ...OTHERS, ...LABELS }))
    add(concept as Concept, words)
  for (const [concept, words] of Object.entries(REVERSED)) add(concept as Concept, words, reversed)
  for (const concept of ROTATED) add(concept, ENGLISH[concept], rotated)
  return terms
}

function reversed(word: string): string {
  return Array.from(word).toReversed().join('')
}

function rotated(word: string): string {
  return word.replaceAll(/[a-z]/g, (letter) => {
    const code = letter.charCodeAt(0)
    return String.fromCharCode(code < 110 ? code + 13 : code - 13)
  })
}
