/** What the server says of a checkpoint before it is loaded. */
import type { Gpu } from '../../api/types.ts'

export interface ModelCheck {
  readonly architecture: string
  readonly parameters: number
  readonly quantization: string
  readonly size_bytes: number
  readonly download_bytes: number
  readonly max_seq_len: number
  readonly needed_bytes: number
  readonly available_bytes: number
  readonly gpu: Gpu | null
  readonly fits: boolean
  readonly problem: string | null
}

interface Source {
  readonly checkpoint: string
  readonly quantization: string
}

export interface CheckedSource {
  readonly source: Source
  readonly check: ModelCheck
}

/** @returns the check of what the form says now; null where the last one is of something else */
export function checkOf(source: Source, checked: CheckedSource | null): ModelCheck | null {
  if (checked === null) return null
  const { checkpoint, quantization } = checked.source
  return checkpoint === source.checkpoint && quantization === source.quantization ? checked.check : null
}
