/** Whose prompts may use what others' prompts left in the KV cache: everybody's, or only those of the same account. */
export const PREFIX_CACHE_SCOPES = ['shared', 'account'] as const

export type PrefixCacheScope = (typeof PREFIX_CACHE_SCOPES)[number]
