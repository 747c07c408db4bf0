/**
 * `POST /v1/rerank`, in the shape that Jina, Cohere (v1) and vLLM share. `null` is absence for every optional field.
 */
import { z } from 'zod'
import { UNBUILT_RERANK_FIELDS } from '../../../net/requests/other-fields/embeddings.ts'
import {
  arrayOf,
  boolean,
  integerFrom,
  modelId,
  must,
  nullableWithDefault,
  requestBody,
  text,
} from '../../schemas/fields.ts'

const MAX_DOCUMENTS = 2048
const TEXT_RULE = 'a string that is not empty'
const DOCUMENT_RULE = `${TEXT_RULE}, or an object with such a text`

const fullText = (rule: string) => text(rule).min(1, { error: must(rule) })

const document = z
  .union([fullText(DOCUMENT_RULE), z.object({ text: fullText(DOCUMENT_RULE) })], {
    error: must(DOCUMENT_RULE),
  })
  .transform((given) => (typeof given === 'string' ? given : given.text))

const body = requestBody(
  'RerankRequest',
  {
    model: nullableWithDefault(modelId(), 'default'),
    query: fullText(TEXT_RULE),
    documents: arrayOf(document, { min: 1, max: MAX_DOCUMENTS, of: 'documents' }),
    top_n: integerFrom(1).nullish().describe('How many of the most relevant are returned; all by default.'),
    max_tokens_per_doc: integerFrom(1)
      .nullish()
      .describe('At least the context of the model: no document is cut.'),
    return_documents: nullableWithDefault(boolean(), false).describe('Whether results hold their text.'),
  },
  UNBUILT_RERANK_FIELDS,
)

export const rerankRequest = body.transform((given) => ({
  modelId: given.model,
  query: given.query,
  documents: given.documents,
  maxTokensPerDocument: given.max_tokens_per_doc ?? null,
  topN: given.top_n ?? given.documents.length,
  returnsDocuments: given.return_documents,
}))

export type ParsedRerank = z.output<typeof rerankRequest>

export const rerankResponse = z
  .object({
    id: z.string().describe('`rerank-<id>`'),
    object: z.literal('list'),
    model: z.string(),
    results: z
      .array(
        z.object({
          index: z.int().describe('Of the document in the request.'),
          relevance_score: z.number(),
          document: z.object({ text: z.string() }).optional(),
        }),
      )
      .describe('The most relevant first.'),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .meta({ id: 'RerankResponse' })
