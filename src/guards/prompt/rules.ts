/**
 * The rules, as data. A rule of words holds concepts that must follow one another, each within so many words of the
 * one before (`sequence`), or stand together in any order (`together`), because languages differ in it.
 */
import type { Concept } from './vocabulary.ts'

export interface Rule {
  readonly id: string
  /** One sentence for the docs and for people who read the metrics. */
  readonly reason: string
}

interface Step {
  readonly any: readonly Concept[]
  /** Most words between this and the step before. */
  readonly within: number
}

export interface SequenceRule extends Rule {
  readonly sequence: readonly Step[]
  /** A concept that must not stand between the first step and the last. */
  readonly unless?: Concept
  /** Only where the text is one turn among others. */
  readonly isChatOnly?: true
}

export interface TogetherRule extends Rule {
  readonly together: readonly Concept[]
  readonly within: number
  readonly unless?: Concept
}

const OVERRIDE = {
  id: 'instruction-override',
  reason: 'Asks the model to set aside the instructions it was given.',
}
const PERSONA = { id: 'unrestricted-persona', reason: 'Declares the model free of its rules or filters.' }
const EXTRACTION = {
  id: 'prompt-extraction',
  reason: 'Asks for the system prompt or for the text before the message.',
}
const SPOOFED_ROLE = {
  id: 'role-label',
  reason: 'Writes a turn of the system or of the assistant into a message.',
}

/** Of control tokens, by shape (`role-markers.ts`). */
export const ROLE_MARKER: Rule = {
  id: 'role-marker',
  reason: "Closes its own turn and opens another with a model's control tokens.",
}

/** Of text that was decoded and broke another rule (`encodings.ts`). */
export const ENCODED: Rule = {
  id: 'encoded-payload',
  reason: 'Hides in an encoding what breaks another rule.',
}

const step = (within: number, ...any: Concept[]): Step => ({ any, within })

export const SEQUENCE_RULES: readonly SequenceRule[] = [
  { ...OVERRIDE, sequence: [step(0, 'ignore'), step(5, 'prior'), step(4, 'rules')], unless: 'mine' },
  {
    ...OVERRIDE,
    sequence: [step(0, 'ignore', 'lift'), step(4, 'your'), step(4, 'ownRules')],
    unless: 'mine',
  },
  {
    ...OVERRIDE,
    sequence: [step(0, 'ignore', 'lift'), step(3, 'all'), step(3, 'prior'), step(3, 'directives')],
    unless: 'mine',
  },
  {
    ...OVERRIDE,
    sequence: [step(0, 'lift'), step(3, 'prior'), step(3, 'rules'), step(3, 'doThis')],
    unless: 'mine',
  },
  {
    ...OVERRIDE,
    sequence: [step(0, 'ignore'), step(3, 'all'), step(3, 'rules'), step(6, 'prior', 'doThis')],
    unless: 'mine',
  },
  {
    ...OVERRIDE,
    sequence: [step(0, 'ignore', 'lift'), step(3, 'directives'), step(4, 'toldBefore')],
    unless: 'mine',
  },
  {
    ...OVERRIDE,
    sequence: [step(0, 'ignore', 'lift'), step(3, 'everything'), step(1, 'toldYou')],
    unless: 'mine',
  },
  { ...OVERRIDE, sequence: [step(0, 'everything'), step(1, 'toldYou'), step(14, 'ignore')], unless: 'mine' },
  { ...OVERRIDE, sequence: [step(0, 'ignore'), step(3, 'toldBefore'), step(4, 'doThis')], unless: 'mine' },
  {
    ...OVERRIDE,
    sequence: [step(0, 'your', 'prior'), step(3, 'rules'), step(6, 'noLonger'), step(8, 'youAct')],
    unless: 'mine',
  },
  { ...OVERRIDE, sequence: [step(0, 'rules'), step(2, 'toldBefore'), step(4, 'noLonger')], unless: 'mine' },
  { ...OVERRIDE, sequence: [step(0, 'your'), step(3, 'ownRules'), step(4, 'noLonger')], unless: 'mine' },
  {
    ...OVERRIDE,
    sequence: [step(0, 'release'), step(3, 'your', 'prior'), step(3, 'ownRules')],
    unless: 'mine',
  },
  { ...OVERRIDE, sequence: [step(0, 'your'), step(1, 'newRules'), step(4, 'order')], unless: 'mine' },
  { ...OVERRIDE, sequence: [step(0, 'ignore'), step(2, 'everything'), step(3, 'toldBy')], unless: 'mine' },
  { ...OVERRIDE, sequence: [step(0, 'everything'), step(2, 'toldBy'), step(5, 'doNot')], unless: 'mine' },
  { ...OVERRIDE, sequence: [step(0, 'toAi'), step(12, 'ignore', 'lift', 'instead')], unless: 'mine' },
  {
    ...OVERRIDE,
    sequence: [step(0, 'ignore', 'lift'), step(3, 'rules'), step(2, 'toldYou')],
    unless: 'mine',
  },
  { ...PERSONA, sequence: [step(0, 'persona'), step(8, 'unrestricted')], unless: 'mine' },
  { ...PERSONA, sequence: [step(0, 'persona'), step(8, 'unlimited'), step(6, 'ofAi')], unless: 'mine' },
  { ...PERSONA, sequence: [step(0, 'persona'), step(6, 'ofAi'), step(8, 'unlimited')], unless: 'mine' },
  { ...PERSONA, sequence: [step(0, 'answering'), step(6, 'unrestricted')], unless: 'mine' },
  {
    ...PERSONA,
    sequence: [step(0, 'modeOn'), step(4, 'secretMode'), step(14, 'modeEffect')],
    unless: 'mine',
  },
  {
    ...EXTRACTION,
    sequence: [step(0, 'reveal'), step(5, 'theirs'), step(3, 'systemPrompt')],
    unless: 'self',
  },
  {
    ...EXTRACTION,
    sequence: [step(0, 'reveal'), step(5, 'your'), step(3, 'yourInstructions')],
    unless: 'self',
  },
  { ...EXTRACTION, sequence: [step(0, 'revealHard'), step(1, 'systemPrompt')], unless: 'self' },
  { ...EXTRACTION, sequence: [step(0, 'your'), step(1, 'systemPrompt'), step(6, 'reveal')], unless: 'self' },
  {
    ...EXTRACTION,
    sequence: [step(0, 'reveal'), step(5, 'your'), step(3, 'ownPrompt'), step(8, 'verbatim')],
    unless: 'self',
  },
  {
    ...EXTRACTION,
    sequence: [step(0, 'reveal'), step(8, 'verbatim'), step(4, 'your'), step(4, 'ownPrompt')],
    unless: 'self',
  },
  { ...EXTRACTION, sequence: [step(0, 'repeat'), step(1, 'allAbove')], unless: 'mine' },
  {
    ...EXTRACTION,
    sequence: [step(0, 'reveal'), step(6, 'textAbove'), step(12, 'verbatim', 'startsWith')],
    unless: 'mine',
  },
  { ...EXTRACTION, sequence: [step(0, 'reveal'), step(4, 'yourPrompt')], unless: 'self' },
  { ...EXTRACTION, sequence: [step(0, 'reveal', 'which'), step(9, 'hiddenStart')], unless: 'mine' },
  { ...EXTRACTION, sequence: [step(0, 'startsWith'), step(1, 'youAre')] },
  {
    ...EXTRACTION,
    sequence: [step(0, 'reveal'), step(3, 'whatOrText'), step(3, 'youWereGiven')],
    unless: 'mine',
  },
  { ...EXTRACTION, sequence: [step(0, 'which'), step(2, 'rules'), step(2, 'youWereGiven')], unless: 'mine' },
  { ...SPOOFED_ROLE, sequence: [step(0, 'systemLabel'), step(20, 'spoofed')], isChatOnly: true },
  {
    ...SPOOFED_ROLE,
    sequence: [step(0, 'assistantLabel'), step(1, 'comply'), step(10, 'forbidden')],
    isChatOnly: true,
  },
]

export const TOGETHER_RULES: readonly TogetherRule[] = [
  { ...OVERRIDE, together: ['xIgnore', 'xPrior', 'xRules'], within: 8, unless: 'xSelf' },
  { ...OVERRIDE, together: ['xIgnore', 'xAll', 'xRules'], within: 6, unless: 'xSelf' },
  { ...OVERRIDE, together: ['xIgnore', 'xYour', 'xRules'], within: 5, unless: 'xSelf' },
  { ...OVERRIDE, together: ['xIgnore', 'xToldBefore'], within: 6, unless: 'xSelf' },
  { ...PERSONA, together: ['xYouNow', 'xUnrestricted'], within: 10 },
  { ...EXTRACTION, together: ['xReveal', 'xSystemPrompt', 'xYour'], within: 9, unless: 'xSelf' },
  { ...EXTRACTION, together: ['xReveal', 'xSystemPrompt', 'xVerbatim'], within: 10, unless: 'xSelf' },
  { ...EXTRACTION, together: ['xReveal', 'xRules', 'xYour', 'xVerbatim'], within: 10, unless: 'xSelf' },
  { ...EXTRACTION, together: ['xRevealHard', 'xSystemPrompt'], within: 5, unless: 'xSelf' },
  { ...EXTRACTION, together: ['xRules', 'xBeforeChat'], within: 9, unless: 'xSelf' },
  { ...EXTRACTION, together: ['xReveal', 'xAbove'], within: 8 },
]
