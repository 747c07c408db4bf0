/** How large a KV cache is, and how sequences share it, in words. */

export interface KvCacheSize {
  readonly tokens: number
  /** Otherwise each sequence has room of its own. */
  readonly isShared: boolean
  readonly maxBatchSize: number
  readonly maxSeqLen: number
}

export function describeKvCache({ tokens, isShared, maxBatchSize, maxSeqLen }: KvCacheSize): string {
  const share = isShared ? 'shared by' : 'in equal parts for'
  const sequences = maxBatchSize === 1 ? '1 sequence' : `${maxBatchSize} sequences`
  return `${tokens} tokens ${share} ${sequences} of up to ${maxSeqLen}`
}
