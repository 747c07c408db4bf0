/**
 * Whether a draft model speaks of the same tokens as the model that it drafts for: its proposals are token ids, which would
 * mean something else otherwise. Compares what llama.cpp read from both files.
 */
import { StartError } from '../../../core/errors.ts'
import type { Bindings } from '../ffi/bindings.ts'
import type { Model } from '../model.ts'

/** Vocabularies are padded to round numbers with tokens that stand for nothing, and models of one family differ in that. */
const MAX_PADDING_TOKENS = 128

interface ComparedModel extends Pick<Model, 'vocab' | 'vocabSize'> {
  /** As whoever configured it knows it. */
  readonly name: string
}

/** @throws StartError that names what differs */
export function checkDraftVocabulary(api: Bindings, model: ComparedModel, draft: ComparedModel): void {
  const difference = findDifference(api, model, draft)
  if (difference === null) return
  throw new StartError(`'${draft.name}' cannot be the draft model of '${model.name}': ${difference}.`, 1)
}

function findDifference(api: Bindings, model: ComparedModel, draft: ComparedModel): string | null {
  if (api.vocabType(draft.vocab) !== api.vocabType(model.vocab))
    return 'their tokenizers are of different kinds'
  if (Math.abs(draft.vocabSize - model.vocabSize) > MAX_PADDING_TOKENS) {
    return `its vocabulary has ${draft.vocabSize} tokens instead of ${model.vocabSize}`
  }
  const count = Math.min(draft.vocabSize, model.vocabSize)
  for (let id = 0; id < count; id++) {
    const [own, theirs] = [api.vocabText(draft.vocab, id), api.vocabText(model.vocab, id)]
    if (own !== theirs) return `token ${id} is ${JSON.stringify(own)} instead of ${JSON.stringify(theirs)}`
  }
  const [own, theirs] = [api.vocabEos(draft.vocab), api.vocabEos(model.vocab)]
  return own === theirs ? null : `its end token is ${own} instead of ${theirs}`
}
