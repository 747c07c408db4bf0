/**
 * `GET /v1/models` as Anthropic's clients ask for it (Models API, version 2023-06-01): pages, and the fields of its `ModelInfo`
 * beside ours where a request has `anthropic-version`. Called by `api/routes/models.ts`. A page is of the list at the moment
 * in which it is asked for.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { ModelRecord } from '../../../models/model-record.ts'
import { describeValue, toFieldError } from '../../../net/requests/request-fields.ts'
import { type modelList, toModel } from '../../schemas/models.ts'
import { queryInteger, queryText } from '../../schemas/query.ts'
import type { AnswerOf } from '../frames.ts'

const MAX_PAGE_LENGTH = 1000
const ID_RULE = 'the id of a model'

/** The SDKs add `beta=true` where a beta of the API is asked for. */
export const modelQuery = z.object({ beta: z.string().optional().describe('Ignored.') })

export const modelPageQuery = modelQuery.extend({
  client_version: z.string().optional().describe("Ignored: Codex's own."),
  limit: queryInteger({ min: 1, max: MAX_PAGE_LENGTH })
    .optional()
    .describe('Models of a page; all when left out.'),
  after_id: queryText(ID_RULE).optional().describe('The page that follows this model.'),
  before_id: queryText(ID_RULE).optional().describe('The page that ends in front of this model.'),
})

type PageQuery = z.output<typeof modelPageQuery>
type ModelList = AnswerOf<typeof modelList>
type ModelObject = ModelList['data'][number]

/** @throws ServiceError for a cursor that is no model of the list */
export function toModelList(
  records: readonly ModelRecord[],
  query: PageQuery,
  headers: IncomingHttpHeaders,
): ModelList {
  const { limit, after_id: after, before_id: before } = query
  const toObject = (record: ModelRecord) => toModelFor(headers, record)
  const isPaged = limit !== undefined || after !== undefined || before !== undefined
  if (!isPaged && !isAnthropic(headers)) return { object: 'list', data: records.map(toObject) }
  const { rows, hasMore } = pageOf(records, query)
  return {
    object: 'list',
    data: rows.map(toObject),
    has_more: hasMore,
    first_id: rows[0]?.id ?? null,
    last_id: rows.at(-1)?.id ?? null,
  }
}

export function toModelFor(headers: IncomingHttpHeaders, record: ModelRecord): ModelObject {
  const model = toModel(record)
  if (!isAnthropic(headers)) return model
  const { max_seq_len: maxSeqLen } = model.meta
  return {
    ...model,
    type: 'model',
    display_name: model.id,
    created_at: new Date(model.created * 1000).toISOString(),
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
    capabilities: null,
    max_input_tokens: maxSeqLen,
    max_tokens: maxSeqLen,
  }
}

function isAnthropic(headers: IncomingHttpHeaders): boolean {
  return headers['anthropic-version'] !== undefined
}

function pageOf(records: readonly ModelRecord[], { limit = Infinity, after_id, before_id }: PageQuery) {
  if (after_id !== undefined && before_id !== undefined)
    throw toFieldError({ field: 'before_id', problem: 'must not be given beside after_id' })
  if (before_id !== undefined) {
    const end = indexOf(records, 'before_id', before_id)
    const start = Math.max(end - limit, 0)
    return { rows: records.slice(start, end), hasMore: start > 0 }
  }
  const start = after_id === undefined ? 0 : indexOf(records, 'after_id', after_id) + 1
  return { rows: records.slice(start, start + limit), hasMore: start + limit < records.length }
}

function indexOf(records: readonly ModelRecord[], field: string, id: string): number {
  const index = records.findIndex((record) => record.id === id)
  if (index !== -1) return index
  throw toFieldError({
    field,
    problem: `must be the id of a model of the list, but was ${describeValue(id)}`,
  })
}
