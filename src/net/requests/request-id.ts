/** The id a request is known by: the caller's own when it is safe to repeat, else a new one (spec: decisions, Errors). */
import { newId } from '../../core/ids.ts'

const SAFE_REQUEST_ID = /^[\w.:-]{1,64}$/

export function keepRequestId(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && SAFE_REQUEST_ID.test(given) ? given : newId()
}
