/**
 * Fields of the one table that a remote model's upstream may read, of chats and completions: sent to it as they came, and what an
 * upstream does not know it refuses or ignores itself. Only what changes how tokens are chosen and where an answer ends, or how a
 * cache is used: nothing that brings text past the guards, loads or runs anything, or changes what an answer costs.
 */
export const UPSTREAM_FIELDS: ReadonlySet<string> = new Set([
  // which tokens may be chosen
  'allowed_token_ids',
  'bad_words',
  // how a token is chosen
  'top_a',
  'typical_p',
  'tfs_z',
  'top_n_sigma',
  'epsilon_cutoff',
  'eta_cutoff',
  'xtc_probability',
  'xtc_threshold',
  'mirostat',
  'mirostat_tau',
  'mirostat_eta',
  'dynatemp_range',
  'dynatemp_exponent',
  'smoothing_factor',
  'smoothing_curve',
  'adaptive_target',
  'adaptive_decay',
  'temperature_last',
  'samplers',
  'min_keep',
  // repeated tokens
  'no_repeat_ngram_size',
  'repeat_last_n',
  'dry_multiplier',
  'dry_base',
  'dry_allowed_length',
  'dry_penalty_last_n',
  'dry_sequence_breakers',
  // where an answer ends
  't_max_predict_ms',
  'repetition_detection',
  'include_stop_str_in_output',
  'skip_special_tokens',
  'spaces_between_special_tokens',
  // thoughts
  'thinking_budget_tokens',
  'thinking_token_budget',
  'include_reasoning',
  'separate_reasoning',
  // caches
  'cache_prompt',
  'cache_salt',
  'prompt_cache_key',
])
