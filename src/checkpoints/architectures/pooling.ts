/**
 * What the files of an embedding model say beside its weights, as metadata of GGUF: how one vector is made of those of its
 * tokens, in `1_Pooling/config.json` of sentence-transformers, and to which lengths it may be cut.
 */
import type { Pooling } from '../../protocol/model-info.ts'
import { shown, unconvertible } from '../files/file-errors.ts'
import { poolingTypeId, SHORTER_DIMENSIONS_KEY } from '../gguf/embedding-model.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { flagField, type JsonObject, listField } from '../files/json-file.ts'
import type { ArchitecturePlan, MetadataEntry } from './architecture-plan.ts'

/** By the name of the flag that is set. */
const MODES: ReadonlyMap<string, Pooling> = new Map([
  ['pooling_mode_mean_tokens', 'mean'],
  ['pooling_mode_cls_token', 'cls'],
  ['pooling_mode_lasttoken', 'last'],
])

/** @throws StartError for a pooling that llama.cpp does not compute, or several together. */
export function poolingMetadata(
  { ggufName, isReranker = false }: ArchitecturePlan,
  pooling: JsonObject | null,
): readonly MetadataEntry[] {
  if (pooling === null || isReranker) return []
  const set = Object.keys(pooling.fields).filter(
    (name) => name.startsWith('pooling_mode_') && pooling.fields[name] === true,
  )
  const mode = MODES.get(set[0] ?? '')
  if (mode === undefined || set.length !== 1) {
    const given = set.length === 0 ? 'none is' : `${set.join(', ')} ${set.length === 1 ? 'is' : 'are'}`
    throw unconvertible(pooling, `exactly one of ${[...MODES.keys()].join(', ')} must be true, but ${given}`)
  }
  return [[`${ggufName}.pooling_type`, gguf.uint32(poolingTypeId(mode))]]
}

/** The lengths to which vectors may be cut, by the two fields that vLLM reads from config.json. */
export function matryoshkaMetadata(config: JsonObject): readonly MetadataEntry[] {
  const lengths = listField(config, 'matryoshka_dimensions')
  const isAny = flagField(config, 'is_matryoshka', false)
  if (lengths.length === 0 && !isAny) return []
  const wrong = lengths.find((length) => !Number.isInteger(length) || Number(length) < 1)
  if (wrong !== undefined) throw unconvertible(config, `"matryoshka_dimensions" holds ${shown(wrong)}`)
  return [[SHORTER_DIMENSIONS_KEY, gguf.string(lengths.length === 0 ? 'any' : lengths.join(','))]]
}
