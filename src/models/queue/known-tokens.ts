/** Whether token ids are those of a vocabulary: the engine's native code would end with one that is not, and all its requests. */
import { ServiceError } from '../../core/errors.ts'
import type { EmbeddingRequest, EngineRequest, TokenPrompt } from '../../protocol/engine.ts'

type TokenIds = TokenPrompt['tokenIds']

/** The index of the first that the vocabulary does not have; -1 where it has them all. */
export function findUnknownToken(tokenIds: TokenIds, vocabSize: number): number {
  // Also of each element that a sparse array leaves out.
  for (let index = 0; index < tokenIds.length; index++) {
    const id = tokenIds[index]
    if (!(Number.isInteger(id) && Number(id) >= 0 && Number(id) < vocabSize)) return index
  }
  return -1
}

/** @throws ServiceError `invalid_request` for a prompt without tokens, and for the first id that the vocabulary does not have. */
export function refuseUnknownTokens(request: EngineRequest | EmbeddingRequest, vocabSize: number): void {
  for (const [index, prompt] of request.prompts.entries()) {
    if ('tokenIds' in prompt) checkPrompt(`prompts[${index}].tokenIds`, prompt.tokenIds, vocabSize)
  }
  if (!('options' in request)) return
  const { sampling, endRules } = request.options
  const biased = sampling.logitBias?.map(([tokenId]) => tokenId) ?? []
  checkIds('options.sampling.logitBias', biased, vocabSize)
  checkIds('options.endRules.stopTokenIds', endRules?.stopTokenIds ?? [], vocabSize)
}

function checkPrompt(name: string, tokenIds: TokenIds, vocabSize: number): void {
  if (tokenIds.length === 0) {
    throw new ServiceError('invalid_request', { message: `${name} must hold at least one token id.` })
  }
  checkIds(name, tokenIds, vocabSize)
}

/** @throws ServiceError `invalid_request` */
export function checkIds(name: string, tokenIds: TokenIds, vocabSize: number): void {
  const index = findUnknownToken(tokenIds, vocabSize)
  if (index < 0) return
  const rule = `must be a token id between 0 and ${vocabSize - 1}`
  throw new ServiceError('invalid_request', {
    message: `${name}[${index}] ${rule}, but was ${tokenIds[index]}.`,
  })
}
