/** What an upstream says of a model in its list, where it says anything: vLLM, SGLang, llama-server and Sluice each say other things. */
import type { ModelInfo } from '../../protocol/model-info.ts'
import { countOf, isObject, type Json, objects, sizeOf } from './answers/answer-chunk.ts'

export interface UpstreamModel extends Pick<
  ModelInfo,
  'architecture' | 'parameters' | 'sizeBytes' | 'quantization' | 'maxSeqLen' | 'vocabSize'
> {
  /** Null where no upstream has been asked yet. */
  readonly id: string | null
}

export const UNKNOWN_MODEL: UpstreamModel = {
  id: null,
  architecture: 'unknown',
  parameters: Number.NaN,
  sizeBytes: Number.NaN,
  quantization: 'unknown',
  maxSeqLen: null,
  vocabSize: Infinity,
}

/** Null where the answer lists no model. @param wanted null takes the first; one that is not listed may be served all the same */
export function readUpstreamModel(answer: unknown, wanted: string | null): UpstreamModel | null {
  const listed = isObject(answer) ? objects(answer['data']) : []
  const found = wanted === null ? listed[0] : listed.find(({ id }) => id === wanted)
  const id = wanted ?? found?.['id']
  if (typeof id !== 'string') return null
  return found === undefined ? { ...UNKNOWN_MODEL, id } : { ...describe(found), id }
}

export function toModelInfo({ id: _id, ...known }: UpstreamModel): ModelInfo {
  return {
    ...known,
    engine: 'openai',
    maxBatchSize: Number.MAX_SAFE_INTEGER,
    takesChats: true,
    canConstrain: true,
    chatTemplate: null,
    bosText: '',
    eosText: '',
    specialTexts: [],
    threads: null,
    memoryBytes: null,
  }
}

function describe(model: Json): Omit<UpstreamModel, 'id'> {
  const meta = isObject(model['meta']) ? model['meta'] : {}
  const megabytes = meta['size_mb']
  return {
    architecture: nameOf(meta['architecture']),
    parameters: sizeOf(meta['parameters']) ?? sizeOf(meta['n_params']) ?? Number.NaN,
    sizeBytes: typeof megabytes === 'number' ? megabytes * 1_000_000 : (sizeOf(meta['size']) ?? Number.NaN),
    quantization: nameOf(meta['quantization']),
    maxSeqLen: countOf(model['max_model_len']) ?? countOf(meta['max_seq_len']) ?? countOf(meta['n_ctx']),
    vocabSize: countOf(meta['vocab_size']) ?? countOf(meta['n_vocab']) ?? Infinity,
  }
}

function nameOf(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value.slice(0, 100) : 'unknown'
}
