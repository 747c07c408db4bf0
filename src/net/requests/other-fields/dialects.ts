/** Fields that one dialect has beside those of every generation: of its body, and of the objects inside it. */
import { type FieldTable, toTable } from './field-table.ts'

/** Fields of a chat's message that would change the answer. */
export const UNBUILT_MESSAGE_FIELDS: FieldTable = toTable([
  { does: 'read tool calls', names: ['tool_calls'], fields: { function_call: [] } },
  { does: 'read images', fields: { images: [[]] } },
  { does: 'read audio', fields: { audio: [] } },
  { does: 'continue a message this way', fields: { prefix: [false], partial: [false] } },
])

/** Fields of a function that a model may call, of OpenAI's and Anthropic's, that would change the answer. */
export const UNBUILT_TOOL_FIELDS: FieldTable = toTable([
  { does: 'show a model examples of a call', fields: { input_examples: [[]] } },
  { does: 'read the results of a tool by a schema', fields: { output_schema: [] } },
  { does: 'load a tool later', fields: { defer_loading: [false] } },
  { does: 'call tools from code', fields: { allowed_callers: [['direct'], []] } },
  { does: 'go on while a tool runs', fields: { async: [false] } },
])

/** Fields of `output_config` of `/v1/messages` that would change the answer. */
export const UNBUILT_OUTPUT_FIELDS: FieldTable = toTable([
  { does: 'show a model what is left of a budget', fields: { task_budget: [] } },
])

/** Fields of `reasoning` of `/v1/responses` that would change the answer. */
export const UNBUILT_REASONING_FIELDS: FieldTable = toTable([
  { does: 'choose what of earlier thoughts a model reads', fields: { context: ['auto'] } },
  { does: 'think in another way', fields: { mode: ['standard'] } },
])

/** Fields of a body of `/v1/messages` that ask for what a server would have to store. */
export const UNBUILT_ANTHROPIC_FIELDS: FieldTable = toTable([
  {
    does: 'keep a conversation: nothing is stored here, so messages must hold the whole of it',
    fields: { thread: [] },
  },
])

/** Fields of llama-server's `/tokenize`. */
export const UNBUILT_TOKENIZE_FIELDS: FieldTable = toTable([
  { does: 'read texts', names: ['prompt'], fields: { content: [] } },
  { does: 'add special tokens', names: ['add_special_tokens'], fields: { add_special: [] } },
  { does: 'give the text of tokens', names: ['return_token_strs'], fields: { with_pieces: [false] } },
  { does: 'read special tokens as text', fields: { parse_special: [true] } },
])

/** Fields of `stream_options` that would change the answer. */
export const UNBUILT_STREAM_FIELDS: FieldTable = toTable([
  { does: 'send usage in every chunk', fields: { continuous_usage_stats: [false] } },
])

/** Fields of a body of `/v1/responses` that ask for what a server would have to store. */
export const UNBUILT_RESPONSE_FIELDS: FieldTable = toTable([
  {
    does: 'look up what was said before: nothing is stored here, so input must hold the whole conversation',
    fields: { previous_response_id: [], conversation: [] },
  },
  {
    does: 'look up a prompt: nothing is stored here, so instructions and input must hold its text',
    fields: { prompt: [] },
  },
])
