/**
 * A model as `GET /v1/models` shows it on both servers. The one shape of the wire below them: the light server may not load
 * the schemas that document it, against which the compiler checks it in `api/schemas/models.ts`.
 */
import { withoutFolders } from '../core/file-paths.ts'
import type { ModelRecord } from './model-record.ts'

export const BYTES_PER_MB = 1_000_000

export function toModelObject(record: ModelRecord) {
  const { outline, quantization, failure, replicas } = record
  return {
    id: record.id,
    object: 'model' as const,
    created: Math.floor(record.createdUnixSeconds),
    owned_by: 'sluice',
    meta: {
      architecture: outline?.architecture ?? null,
      parameters: outline?.parameters ?? null,
      size_mb: outline === null ? null : outline.sizeBytes / BYTES_PER_MB,
      // llama.cpp has no fp8 and sees the blocks it is stored in.
      quantization: quantization === 'fp8' ? quantization : (outline?.quantization ?? null),
      max_seq_len: outline?.maxSeqLen ?? null,
      vocab_size: outline?.vocabSize ?? null,
      engine: outline?.engine ?? null,
      state: record.state,
      load_progress: record.loadFraction,
      failure: failure === null ? null : withoutFolders(failure),
      ...(replicas !== null && { replicas: replicas.all, replicas_ready: replicas.ready }),
    },
  }
}
