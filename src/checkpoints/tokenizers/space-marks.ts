/**
 * What a tokenizer of the SentencePiece kind does with spaces: it writes each as "▁", and some put one in front of a
 * text. tokenizer.json has this in its normalizer or in its pre-tokenizer, depending on its age.
 */
import { badFile, shown } from '../file-errors.ts'
import { isRecord, type JsonObject } from '../json-file.ts'

export const SPACE_MARK = '▁'

/**
 * Where a space is put: in front of all text between special tokens, in front of a text that begins with no special
 * token and no space, or nowhere.
 */
export type SpacePrefix = 'every-text' | 'start' | 'none'

/** @throws StartError when it does anything else with text. */
export function readSpacePrefix(tokenizer: JsonObject): SpacePrefix {
  const { normalizer = null, pre_tokenizer: preTokenizer = null } = tokenizer.fields
  const steps = stepsOf(normalizer, 'normalizers')
  const isSplit = isHarmlessSplit(preTokenizer)
  if (steps.length === 2 && isPrepend(steps[0]) && isReplace(steps[1]) && isSplit) return 'every-text'
  if (steps.length === 1 && isReplace(steps[0]) && isSplit) return 'none'
  if (steps.length === 0 && isMetaspace(preTokenizer)) {
    if (preTokenizer['prepend_scheme'] === 'first') return 'start'
    if (preTokenizer['prepend_scheme'] === 'never') return 'none'
  }
  throw badFile(
    tokenizer.path,
    `cannot be converted: it treats spaces in a way that is not known (${shown({ normalizer, pre_tokenizer: preTokenizer })})`,
  )
}

function stepsOf(value: unknown, name: string): readonly unknown[] {
  if (value === null) return []
  const listed = isRecord(value) && value['type'] === 'Sequence' ? value[name] : [value]
  return Array.isArray(listed) ? listed : [value]
}

function isPrepend(step: unknown): boolean {
  return isRecord(step) && step['type'] === 'Prepend' && step['prepend'] === SPACE_MARK
}

function isReplace(step: unknown): boolean {
  const isNamed = isRecord(step) && step['type'] === 'Replace' && step['content'] === SPACE_MARK
  return isNamed && isRecord(step['pattern']) && step['pattern']['String'] === ' '
}

/** Behind the normalizer there is no space left to split at. */
function isHarmlessSplit(preTokenizer: unknown): boolean {
  if (preTokenizer === null) return true
  const isSplit = isRecord(preTokenizer) && preTokenizer['type'] === 'Split'
  return isSplit && isRecord(preTokenizer['pattern']) && preTokenizer['pattern']['String'] === ' '
}

function isMetaspace(preTokenizer: unknown): preTokenizer is Record<string, unknown> {
  return (
    isRecord(preTokenizer) &&
    preTokenizer['type'] === 'Metaspace' &&
    preTokenizer['replacement'] === SPACE_MARK &&
    preTokenizer['split'] === false
  )
}
