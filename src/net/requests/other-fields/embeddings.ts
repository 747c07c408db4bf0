/** Fields of requests for embeddings and for reranking. */
import { type FieldTable, toTable } from './field-table.ts'

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
      embed_dtype: ['float32'],
      endianness: ['native', 'little'],
      output_dimension: [],
      late_chunking: [false],
      return_multivector: [false],
    },
  },
  { does: 'tokenize another way', fields: { add_special_tokens: [true], pooling: [] } },
  { does: 'pad a text', fields: { padding: ['do_not_pad'] } },
  { does: 'read texts', names: ['input'], fields: { content: [], inputs: [], texts: [] } },
  {
    does: 'read messages or images',
    fields: {
      messages: [],
      images: [[]],
      add_generation_prompt: [true, false],
      continue_final_message: [false],
      chat_template: [''],
      chat_template_kwargs: [{}],
    },
  },
])

/** Fields of a body of reranking that would change the scores: Jina's, Cohere's, vLLM's, TEI's. */
export const UNBUILT_RERANK_FIELDS: FieldTable = toTable([
  {
    does: 'cut a document that is too long',
    fields: {
      truncate: [false, 'NONE'],
      truncate_prompt_tokens: [],
      truncation: [false],
      max_chunks_per_doc: [10],
      max_tokens_per_query: [],
    },
  },
  { does: 'pad a text', fields: { padding: ['do_not_pad'] } },
  { does: 'rank for a task', fields: { instruction: [''], chat_template_kwargs: [{}] } },
  { does: 'rank by several fields', fields: { rank_fields: [[], ['text']] } },
  {
    does: 'give scores of another kind',
    fields: { raw_scores: [false], use_activation: [true], activation: [], return_embeddings: [false] },
  },
  { does: 'read texts', names: ['documents'], fields: { texts: [], inputs: [] } },
])
