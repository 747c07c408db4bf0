/** Bodies that a remote model's upstream may read more of than this server does: chats and completions. */
import { z } from 'zod'
import type { GenerationRequest } from '../../generation/generation-request.ts'
import type { FieldTable } from '../../net/requests/other-fields/field-table.ts'
import { UNBUILT_FIELDS } from '../../net/requests/other-fields/generation.ts'
import { describeOtherFields, findUnbuiltField } from '../../net/requests/other-fields/unbuilt-fields.ts'
import { UPSTREAM_FIELDS } from '../../net/requests/other-fields/upstream.ts'
import { must, withoutUnbuilt } from './fields.ts'

/** Those that no upstream is asked for either. */
const UNBUILT_ANYWHERE: FieldTable = new Map(
  [...UNBUILT_FIELDS].filter(([field]) => !UPSTREAM_FIELDS.has(field)),
)

/** As `generationBody`, and keeps its other fields, for `toUpstreamFields`. */
export function passedOnBody<Shape extends z.ZodRawShape>(id: string, shape: Shape) {
  const body = z.looseObject(shape, { error: must('a JSON object') })
  const sent = [...UPSTREAM_FIELDS].map((field) => `\`${field}\``).join(', ')
  const description =
    `${describeOtherFields(UNBUILT_FIELDS, new Set(Object.keys(shape)))} ` +
    `For a remote model these are sent to its upstream as they come: ${sent}.`
  return withoutUnbuilt(body.meta({ id, description }), UNBUILT_ANYWHERE)
}

/** What an upstream is sent of a body; nothing where it has no field that only upstreams read. */
export function toUpstreamFields(
  body: Readonly<Record<string, unknown>>,
): Pick<GenerationRequest, 'upstreamFields'> {
  const fields: Record<string, unknown> = {}
  for (const field of UPSTREAM_FIELDS) {
    const value = Object.hasOwn(body, field) ? body[field] : null
    if (value !== null) fields[field] = value
  }
  if (Object.keys(fields).length === 0) return {}
  const unbuilt = findUnbuiltField(fields, { table: UNBUILT_FIELDS, known: new Set() })
  return { upstreamFields: { fields, unbuilt } }
}
