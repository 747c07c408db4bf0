/**
 * The one table of fields that other servers' generation requests have and a route here may not read: OpenAI's, vLLM's,
 * llama-server's, SGLang's, Ollama's, TGI's and those of `generate` in transformers. Two lists: fields that would change the
 * answer, which are refused unless their value asks for nothing, and harmless ones, which are ignored as unknown ones are.
 * Data only, read by `unbuilt-fields.ts`. A row says nothing of the routes whose schemas read the field; it leaves this table
 * once all routes do.
 */
interface FieldGroup {
  /** What the fields ask for; completes "this route cannot". */
  readonly does: string
  /** Each with the values that ask for nothing; null always is one. */
  readonly fields: Readonly<Record<string, readonly unknown[]>>
  /** How routes that can do it call it. */
  readonly names?: readonly string[]
  /** A field whose value `none` switches these off. */
  readonly offWith?: string
}

interface UnbuiltField extends Omit<FieldGroup, 'fields'> {
  readonly neutral: readonly unknown[]
}

export type FieldTable = ReadonlyMap<string, UnbuiltField>

function toTable(groups: readonly FieldGroup[]): FieldTable {
  return new Map(
    groups.flatMap(({ fields, ...group }) =>
      Object.entries(fields).map(([field, neutral]) => [field, { ...group, neutral }] as const),
    ),
  )
}

const LENGTH_NAMES = ['max_tokens', 'max_new_tokens', 'max_output_tokens'] as const

/** Fields of a body that would change the answer. */
export const UNBUILT_FIELDS: FieldTable = toTable([
  {
    does: 'constrain the answer',
    fields: {
      response_format: [{ type: 'text' }],
      output_config: [{}],
      output_format: [],
      grammar: [''],
      json_schema: [],
      regex: [''],
      ebnf: [''],
      choice: [[]],
      format: [''],
      structured_outputs: [],
      structural_tag: [],
      guided_json: [],
      guided_regex: [''],
      guided_choice: [[]],
      guided_grammar: [''],
      allowed_token_ids: [[]],
      force_words_ids: [[]],
      forced_bos_token_id: [],
      forced_eos_token_id: [],
      bad_words: [[]],
      bad_words_ids: [[]],
      suppress_tokens: [[]],
      logit_bias: [{}, []],
      logits_processors: [[]],
      custom_logit_processor: [''],
      custom_params: [{}],
      vllm_xargs: [{}],
    },
  },
  {
    does: 'call tools',
    offWith: 'tool_choice',
    fields: { tools: [[]] },
  },
  { does: 'call tools', names: ['tools'], offWith: 'function_call', fields: { functions: [[]] } },
  { does: 'call tools', names: ['tool_choice'], fields: { function_call: ['none', 'auto'] } },
  {
    does: 'call tools',
    fields: {
      tool_choice: ['none', 'auto'],
      web_search_options: [],
      search_parameters: [],
      plugins: [[]],
    },
  },
  {
    does: 'control how a model thinks',
    fields: {
      reasoning_effort: ['none'],
      reasoning: [{}, { effort: 'none' }],
      reasoning_format: ['auto', 'deepseek'],
      reasoning_budget: [],
      include_reasoning: [true],
      separate_reasoning: [true],
      thinking: [{ type: 'disabled' }],
      think: [false],
      enable_thinking: [false],
      thinking_budget: [],
      thinking_budget_tokens: [],
      thinking_token_budget: [],
      thinking_forced_open: [false],
      verbosity: ['medium'],
    },
  },
  {
    does: 'give several answers to a prompt',
    fields: { best_of: [1] },
  },
  {
    does: 'give several answers to a prompt',
    names: ['n'],
    fields: { n: [1], n_cmpl: [1], num_return_sequences: [1] },
  },
  {
    does: 'return anything of tokens beside their text',
    fields: {
      logprobs: [false],
      top_logprobs: [0],
      prompt_logprobs: [],
      logprob_token_ids: [[]],
      n_probs: [0],
      post_sampling_probs: [false],
      top_n_tokens: [0],
      details: [false],
      decoder_input_details: [false],
      return_tokens: [false],
      return_token_ids: [false],
      return_tokens_as_token_ids: [false],
      return_prompt_token_ids: [false],
      return_hidden_states: [false],
      return_routed_experts: [false],
      skip_special_tokens: [true],
    },
  },
  {
    does: 'return anything but the generated text',
    fields: {
      echo: [false],
      return_full_text: [false],
      return_prompt_text: [false],
      response_fields: [[]],
      include_stop_str_in_output: [false],
      no_stop_trim: [false],
      modalities: [['text'], []],
      audio: [],
      moderation: [],
    },
  },
  {
    does: 'penalize repeated tokens this way',
    fields: {
      presence_penalty: [0],
      frequency_penalty: [0],
      encoder_repetition_penalty: [1],
      no_repeat_ngram_size: [0],
      encoder_no_repeat_ngram_size: [0],
      repeat_last_n: [-1],
      repetition_range: [-1],
      penalize_nl: [false],
      penalize_newline: [false],
      dry_multiplier: [0],
    },
  },
  {
    does: 'penalize repeated tokens',
    names: ['repetition_penalty'],
    fields: { repetition_penalty: [1, 0], repeat_penalty: [1, 0] },
  },
  {
    does: 'choose tokens this way',
    fields: {
      min_p: [0],
      top_a: [0],
      typical_p: [1, 0],
      tfs: [1],
      tfs_z: [1],
      top_n_sigma: [-1, 0],
      top_nsigma: [-1, 0],
      epsilon_cutoff: [0],
      eta_cutoff: [0],
      xtc_probability: [0],
      mirostat: [0],
      mirostat_mode: [0],
      dynatemp_range: [0],
      smoothing_factor: [0],
      adaptive_target: [-1],
      temperature_last: [false],
      samplers: [],
      sampler_order: [],
      sampler_priority: [],
      min_keep: [0],
      penalty_alpha: [0],
      guidance_scale: [1],
      negative_prompt: [''],
      watermark: [false],
      watermarking: [false],
    },
  },
  { does: 'choose the likeliest token on demand', names: ['do_sample'], fields: { do_sample: [true] } },
  { does: 'repeat its answer for a seed', names: ['seed'], fields: { seed: [], random_seed: [] } },
  {
    does: 'search with beams',
    names: ['num_beams'],
    fields: { num_beams: [1], beam_width: [1], use_beam_search: [false] },
  },
  {
    does: 'search with beams this way',
    fields: {
      length_penalty: [1],
      early_stopping: [false],
      num_beam_groups: [1],
      diversity_penalty: [0],
    },
  },
  {
    does: 'bound the length of an answer',
    names: LENGTH_NAMES,
    fields: {
      max_tokens: [],
      max_new_tokens: [],
      max_completion_tokens: [],
      max_output_tokens: [],
      max_length: [],
      n_predict: [-1],
      num_predict: [-1],
    },
  },
  {
    does: 'end an answer at a text',
    names: ['stop', 'stop_strings', 'stop_sequences'],
    fields: { stop: [[], ''], stop_strings: [[]], stop_sequences: [[]] },
  },
  {
    does: 'decide this way where an answer ends',
    fields: {
      stop_token_ids: [[]],
      eos_token_id: [],
      exponential_decay_length_penalty: [],
      stop_regex: [[], ''],
      ignore_eos: [false],
      ban_eos_token: [false],
      min_tokens: [0],
      min_length: [0],
      max_time: [],
      t_max_predict_ms: [0],
      n_indent: [0],
      repetition_detection: [],
    },
  },
  {
    does: 'decide this way where an answer ends',
    names: ['min_tokens'],
    fields: { min_new_tokens: [0] },
  },
  {
    does: 'decide this way where an answer ends',
    names: ['ignore_eos'],
    fields: { ignore_eos_token: [false] },
  },
  { does: 'stream', names: ['stream'], fields: { stream: [false] } },
  {
    does: 'change how the prompt is made',
    fields: {
      chat_template: [''],
      chat_template_kwargs: [{}],
      template: [''],
      add_generation_prompt: [true],
      continue_final_message: [false],
      add_special_tokens: [],
      add_bos_token: [],
      documents: [[]],
      system: [''],
      instructions: [''],
      suffix: [''],
      raw: [],
      context: [[]],
      input_prefix: [''],
      input_suffix: [''],
      input_extra: [[]],
      input_ids: [],
      inputs_embeds: [],
      prompt_embeds: [],
      session_params: [],
      safe_prompt: [false],
      token_healing: [false],
      task: [],
      truncate: [],
      truncate_prompt_tokens: [],
      truncation: ['disabled'],
      transforms: [[]],
      options: [{}],
      parameters: [{}],
    },
  },
  {
    does: 'shorten a conversation by itself',
    fields: {
      context_management: [{ edits: [] }, { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }, []],
    },
  },
  { does: 'run code in a container', fields: { container: [] } },
  { does: 'reach other servers', fields: { mcp_servers: [[]] } },
  { does: 'read images', fields: { images: [[]], image_data: [[]], multi_modal_data: [{}] } },
  {
    does: 'apply adapters',
    fields: { lora: [[]], lora_path: [''], lora_request: [], adapter_id: [''] },
  },
])

/** Fields of a body of embeddings that would change the vectors: OpenAI's, vLLM's, llama-server's, TEI's, Jina's, Ollama's. */
export const UNBUILT_EMBEDDING_FIELDS: FieldTable = toTable([
  {
    does: 'cut a text that is too long',
    fields: { truncate: [false, 'NONE'], truncate_prompt_tokens: [], truncation: [false], keep: [] },
  },
  {
    does: 'embed for a task',
    fields: { task: [], task_type: [], input_type: [], prompt_name: [], prompt: [''], instruction: [''] },
  },
  {
    does: 'give vectors of another kind',
    fields: {
      normalize: [true],
      normalized: [true],
      embd_normalize: [2],
      use_activation: [],
      embedding_type: ['float'],
      embedding_types: [['float'], []],
      output_dtype: ['float'],
      output_dimension: [],
      late_chunking: [false],
      return_multivector: [false],
    },
  },
  { does: 'tokenize another way', fields: { add_special_tokens: [true], pooling: [] } },
  { does: 'read messages or images', fields: { messages: [], images: [[]] } },
])

/** Fields of a body of reranking that would change the scores: Jina's, Cohere's, vLLM's, TEI's. */
export const UNBUILT_RERANK_FIELDS: FieldTable = toTable([
  {
    does: 'cut a document that is too long',
    fields: {
      truncate: [false, 'NONE'],
      truncate_prompt_tokens: [],
      truncation: [false],
      max_chunks_per_doc: [],
      max_tokens_per_doc: [],
    },
  },
  { does: 'rank by several fields', fields: { rank_fields: [[], ['text']] } },
  {
    does: 'give scores of another kind',
    fields: { raw_scores: [false], use_activation: [true], activation: [], return_embeddings: [false] },
  },
  { does: 'read texts', names: ['documents'], fields: { texts: [], inputs: [] } },
])

/** Fields of a chat's message that would change the answer. */
export const UNBUILT_MESSAGE_FIELDS: FieldTable = toTable([
  { does: 'read tool calls', names: ['tool_calls'], fields: { function_call: [] } },
  { does: 'read images', fields: { images: [[]] } },
  { does: 'read audio', fields: { audio: [] } },
  { does: 'continue a message this way', fields: { prefix: [false], partial: [false] } },
])

/** Fields of a tool of `/v1/messages` that would change the answer. */
export const UNBUILT_TOOL_FIELDS: FieldTable = toTable([
  { does: 'show a model examples of a call', fields: { input_examples: [[]] } },
  { does: 'load a tool later', fields: { defer_loading: [false] } },
  { does: 'call tools from code', fields: { allowed_callers: [['direct'], []] } },
])

/** Fields of `stream_options` that would change the answer. */
export const UNBUILT_STREAM_FIELDS: FieldTable = toTable([
  { does: 'send usage in every chunk', fields: { continuous_usage_stats: [false] } },
])

/** Fields of a body of `/v1/responses` that ask for what a server would have to store, or to run by itself. */
export const UNBUILT_RESPONSE_FIELDS: FieldTable = toTable([
  {
    does: 'look up what was said before: nothing is stored here, so input must hold the whole conversation',
    fields: { previous_response_id: [], conversation: [] },
  },
  {
    does: 'look up a prompt: nothing is stored here, so instructions and input must hold its text',
    fields: { prompt: [] },
  },
  {
    does: 'answer in the background: nothing is stored here that could be asked for later',
    fields: { background: [false] },
  },
])

/**
 * Fields of a body that leave the answer as it is: labels, hints for caches and routing, extra numbers in the answer, and
 * the details of something that is refused itself wherever it is on.
 */
export const HARMLESS_FIELDS: readonly string[] = [
  // labels and accounting
  'user',
  'metadata',
  'store',
  'service_tier',
  'safety_identifier',
  'priority',
  'request_id',
  'session_id',
  'rid',
  'custom_labels',
  'user_profile_id',
  'workspace_id',
  'diagnostics',
  // caches and where a request runs
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'prediction',
  'cache_prompt',
  'cache_salt',
  'cache_control',
  'extra_key',
  'id_slot',
  'n_cache_reuse',
  'n_keep',
  'n_discard',
  'num_keep',
  'keep_alive',
  'routed_dp_rank',
  'provider',
  'route',
  'inference_geo',
  'speed',
  'ngram_corpus_id',
  'kv_transfer_params',
  'ec_transfer_params',
  // how a stream looks, and extra numbers
  'stream_options',
  'stream_interval',
  'sse_ping_interval',
  'timings_per_token',
  'return_progress',
  'return_meta_info',
  'return_cached_tokens_details',
  'return_token_offsets',
  'return_mm_kwargs',
  'spaces_between_special_tokens',
  // details of what is refused itself
  'parallel_tool_calls',
  'parse_tool_calls',
  'stream_reasoning',
  'guided_decoding_backend',
  'guided_whitespace_pattern',
  'dry_base',
  'dry_allowed_length',
  'dry_penalty_last_n',
  'dry_sequence_breakers',
  'xtc_threshold',
  'mirostat_tau',
  'mirostat_eta',
  'dynatemp_exponent',
  'smoothing_curve',
  'truncation_side',
  'tool_prompt',
  'adaptive_decay',
  'media_io_kwargs',
  'mm_processor_kwargs',
]
