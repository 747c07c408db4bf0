/**
 * What is wrong with a request that its schema could not see: what its model cannot do, token ids that the model does not have,
 * fields that contradict each other. Called by `generation.ts` before anything is done for the request.
 */
import { ServiceError } from '../core/errors.ts'
import type { ModelLease } from '../models/registry.ts'
import { type ChatInput, type GenerationRequest, textFieldOf } from './generation-request.ts'

/** @throws ServiceError `invalid_request` where an answer could not have as many tokens as it must. */
export function checkMinTokens({ endRules, maxNewTokens }: GenerationRequest): void {
  const minTokens = endRules?.minTokens ?? 0
  if (minTokens <= maxNewTokens) return
  const message = `min_tokens must be at most ${maxNewTokens}, the tokens of the whole answer, but was ${minTokens}.`
  throw new ServiceError('invalid_request', { message }, { param: 'min_tokens' })
}

/**
 * @throws ServiceError `unsupported_value` for what the model cannot do; `invalid_request` for a token id that it does not have
 */
export function checkRequest(request: GenerationRequest, lease: ModelLease): void {
  checkGenerates(lease)
  if (request.input.kind === 'chat') checkMedia(request.input, lease)
  checkUpstreamFields(request, lease)
  checkBeams(request, lease)
  checkConstraint(request, lease)
  checkTokenIds(request, lease)
}

function checkGenerates({ modelId, info }: ModelLease): void {
  if (info.embedding === undefined) return
  const [what, where] =
    info.embedding.pooling === 'rank'
      ? ['a reranking model', 'POST /v1/rerank']
      : ['an embedding model', 'POST /v1/embeddings']
  const message = `model must be one that generates text, but '${modelId}' is ${what}: use ${where}.`
  throw new ServiceError('unsupported_value', { message }, { param: 'model' })
}

/** @throws ServiceError `unsupported_value` for media that the model cannot read; an upstream says so itself */
export function checkMedia(
  { messages, fieldNames }: Pick<ChatInput, 'messages'> & Partial<Pick<ChatInput, 'fieldNames'>>,
  { modelId, info }: ModelLease,
): void {
  if (info.takesChats === true) return
  for (const [index, { parts = [] }] of messages.entries()) {
    for (const part of parts) {
      if (part.kind !== 'media') continue
      const field = `${textFieldOf(fieldNames, index)}${part.place}`
      const message = `${field} must be text, but was ${part.name}: model '${modelId}' reads text only.`
      throw new ServiceError('unsupported_value', { message }, { param: field })
    }
  }
}

/** @throws ServiceError `unsupported_value` for a field that only an upstream could read */
function checkUpstreamFields({ upstreamFields }: GenerationRequest, { info }: ModelLease): void {
  const unbuilt = upstreamFields?.unbuilt ?? null
  if (unbuilt === null || info.takesChats === true) return
  const { field, problem } = unbuilt
  throw new ServiceError('unsupported_value', { message: `${field} ${problem}.` }, { param: field })
}

/** @throws ServiceError `unsupported_value` for more beams than the model searches with, and for log probabilities beside beams. */
function checkBeams({ numBeams, topLogprobs }: GenerationRequest, { modelId, info }: ModelLease): void {
  if (numBeams > 1 && topLogprobs !== undefined) {
    const message = `logprobs must not be asked for where num_beams is above 1, but num_beams was ${numBeams}.`
    throw new ServiceError('unsupported_value', { message }, { param: 'logprobs' })
  }
  // Beams do not change the output of the passthrough model (spec: decisions, Models).
  if (info.engine === 'passthrough') return
  const { maxBeams = 1 } = info
  if (numBeams <= maxBeams) return
  const why = maxBeams === 1 ? 'has no beam search' : 'searches with no more'
  const most = maxBeams === 1 ? '1' : `at most ${maxBeams}`
  throw new ServiceError(
    'unsupported_value',
    { message: `num_beams must be ${most}, but was ${numBeams}: model '${modelId}' ${why}.` },
    { param: 'num_beams' },
  )
}

/** @throws ServiceError `unsupported_value` for a constraint that the model cannot keep to, and for one of a beam search */
function checkConstraint(
  { constraint, constraintField = 'tools', numBeams }: GenerationRequest,
  { modelId, info }: ModelLease,
): void {
  if (constraint === undefined) return
  const options = { param: constraintField }
  if (info.canConstrain !== true) {
    const message = `${constraintField} must be null: model '${modelId}' cannot constrain its answers.`
    throw new ServiceError('unsupported_value', { message }, options)
  }
  if (numBeams === 1) return
  const message = `${constraintField} must be null with num_beams ${numBeams}: a beam search cannot be constrained.`
  throw new ServiceError('unsupported_value', { message }, options)
}

function checkTokenIds({ sampling, endRules }: GenerationRequest, { modelId, info }: ModelLease): void {
  const { vocabSize } = info
  const fields = {
    logit_bias: sampling.logitBias?.map(([tokenId]) => tokenId),
    stop_token_ids: endRules?.stopTokenIds,
  }
  for (const [field, tokenIds = []] of Object.entries(fields)) {
    const unknown = tokenIds.find((tokenId) => tokenId >= vocabSize)
    if (unknown === undefined) continue
    const rule = `must hold token ids between 0 and ${vocabSize - 1}, those of model '${modelId}'`
    const message = `${field} ${rule}, but has ${unknown}.`
    throw new ServiceError('invalid_request', { message }, { param: field })
  }
}
