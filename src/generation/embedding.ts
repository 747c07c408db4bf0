/**
 * One embedding request, from its checked fields to its billed end: lease, length, engine, usage row. Gives one vector for each
 * input; knows neither HTTP nor a dialect. No guard looks at the inputs: nothing is generated from them.
 */
import { InvariantError, ServiceError } from '../core/errors.ts'
import type { ModelLease } from '../models/registry.ts'
import type { EmbeddingRequest, Prompt } from '../protocol/engine.ts'
import type { AnswerEvent } from '../protocol/engine-events.ts'
import { bill, type BilledContext, type BillingDeps } from './billing.ts'
import type { Requester } from './engine-request.ts'
import { withPromptName } from './prompt-inputs.ts'
import { leaseModel, type LeasingRegistry } from '../models/lease-model.ts'

export interface EmbeddingDeps extends BillingDeps {
  readonly registry: LeasingRegistry
}

export interface EmbeddingContext extends BilledContext {
  readonly caller: Requester & BilledContext['caller']
}

/** One input, and the body's name for it, for messages. */
export interface EmbeddingInput {
  readonly name: string
  readonly prompt: Prompt
}

/** The model that a request has found; its caller checks what it can do, and makes its inputs. */
export type EmbeddingModel = Pick<ModelLease, 'modelId' | 'info'>

interface EmbeddingWork {
  /** Null is the default model. */
  readonly modelId: string | null
  /** @default whole vectors */
  readonly dimensions?: number | null
  /** By which an upstream ranks the inputs. @default none */
  readonly query?: string
  /** @throws ServiceError where the model cannot do what is asked for */
  readonly prepare: (model: EmbeddingModel) => readonly EmbeddingInput[] | Promise<readonly EmbeddingInput[]>
}

export interface Embedded {
  readonly modelId: string
  /** In the order of the inputs: 32-bit floats in little-endian order as base64. */
  readonly vectors: readonly string[]
  readonly promptTokens: number
}

/**
 * Waits for the model where it is being loaded.
 * @throws ServiceError when there is no such model, when it cannot do what is asked for, or for an input that does not fit
 */
export async function embed(
  deps: EmbeddingDeps,
  context: EmbeddingContext,
  { modelId, dimensions = null, query, prepare }: EmbeddingWork,
): Promise<Embedded> {
  const { caller, signal, timeline, requestId, traceparent } = context
  const place = { priorityClass: caller.limits.priorityClass, priority: 0, accountId: caller.accountId }
  using lease = await leaseModel(deps.registry, { modelId, caller, signal })
  const inputs = await prepare(lease)
  checkTokenIds(inputs, lease)
  timeline.recordModel(lease.modelId)
  await refuseTooLong(inputs, lease, signal)
  const prompts = inputs.map(({ prompt }) => prompt)
  const ofUpstream = { ...(dimensions !== null && { dimensions }), ...(query !== undefined && { query }) }
  const ofTrace = traceparent === undefined ? {} : { traceparent }
  const request = { reqId: requestId, ...ofTrace, place, prompts, ...ofUpstream }
  const vectors = await bill(deps, context, collect(request, { inputs, lease, context }))
  return { modelId: lease.modelId, vectors, promptTokens: timeline.promptTokens }
}

/** @throws ServiceError `unsupported_value` for a model that makes no vectors of texts; an upstream says so itself */
export function checkEmbeds({ modelId, info }: EmbeddingModel): void {
  if (info.takesChats === true || (info.embedding !== undefined && info.embedding.pooling !== 'rank')) return
  const what = info.embedding === undefined ? 'generates text' : 'ranks documents (POST /v1/rerank)'
  const message = `model must be an embedding model, but '${modelId}' ${what}.`
  throw new ServiceError('unsupported_value', { message }, { param: 'model' })
}

/** A vector as numbers. */
export function decodeVector(vector: string): Float32Array {
  const bytes = new Uint8Array(Buffer.from(vector, 'base64'))
  return new Float32Array(bytes.buffer, 0, bytes.length / Float32Array.BYTES_PER_ELEMENT)
}

function checkTokenIds(inputs: readonly EmbeddingInput[], { modelId, info }: EmbeddingModel): void {
  for (const { name, prompt } of inputs) {
    if (!('tokenIds' in prompt)) continue
    const unknown = prompt.tokenIds.find((tokenId) => tokenId >= info.vocabSize)
    if (unknown === undefined) continue
    const rule = `must hold token ids between 0 and ${info.vocabSize - 1}, those of model '${modelId}'`
    throw new ServiceError(
      'invalid_request',
      { message: `${name} ${rule}, but has ${unknown}.` },
      { param: name },
    )
  }
}

/** What is too long by its bytes alone is refused before it is sent to the engine. */
async function refuseTooLong(
  inputs: readonly EmbeddingInput[],
  { promptBound }: ModelLease,
  signal: AbortSignal,
): Promise<void> {
  for (const input of inputs) {
    // Not joined: the query of a ranking is a piece of most inputs.
    const refusal =
      'pieces' in input.prompt ? await promptBound.refusePieces(input.prompt.pieces, signal) : null
    if (refusal !== null) throw inputError(refusal, input)
  }
}

interface Collecting {
  readonly inputs: readonly EmbeddingInput[]
  readonly lease: ModelLease
  readonly context: EmbeddingContext
}

async function collect(request: EmbeddingRequest, work: Collecting): Promise<readonly string[]> {
  const { inputs, lease, context } = work
  const vectors = Array.from(inputs, () => '')
  for await (const events of lease.engine.embed(request, context.signal)) {
    for (const event of events) {
      context.timeline.record(event)
      const vector = vectorOf(event, work)
      if (vector !== null) vectors[event.index] = vector
    }
  }
  return vectors
}

/** @throws ServiceError for an input that failed, and so the whole request */
function vectorOf(event: AnswerEvent, { inputs, context }: Collecting): string | null {
  if (event.type !== 'sequence-end') return null
  const { index, error, vector } = event
  if (error !== null) {
    const params = { requestId: context.requestId, ...error.params }
    throw inputError(new ServiceError(error.code, params), inputs[index])
  }
  if (vector === undefined) throw new InvariantError('An engine of embeddings gave no vector.')
  return vector
}

/** The same error, with the input's name. */
function inputError(error: ServiceError, input: EmbeddingInput | undefined): ServiceError {
  return withPromptName(error, input?.name ?? 'input')
}
