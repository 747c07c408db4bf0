/**
 * Latencies as counts of requests in steps that grow by a fourth of a power of two, so that the counts of any hours and groups
 * can be added up and still tell a percentile to within 10 %. All databases sort by the same whole microseconds.
 */
import { type RawBuilder, sql } from 'kysely'

const STEPS_PER_DOUBLING = 4
const DOUBLINGS = 22

/** Where each step above the lowest begins, in microseconds: from 1 ms to 70 minutes. */
export const LATENCY_STEPS_US: readonly number[] = Array.from(
  { length: STEPS_PER_DOUBLING * DOUBLINGS + 1 },
  (_, index) => Math.round(1000 * 2 ** (index / STEPS_PER_DOUBLING)),
)

/** The number of the step of a row, by its column `response_us`: how many begin below it. */
export const LATENCY_STEP_TEXT = `case ${LATENCY_STEPS_US.map((bound, step) => `when response_us < ${bound} then ${step}`).join(' ')} else ${LATENCY_STEPS_US.length} end`

/** The same for the query builder. */
export const LATENCY_STEP_SQL: RawBuilder<number> = sql.raw(LATENCY_STEP_TEXT)
