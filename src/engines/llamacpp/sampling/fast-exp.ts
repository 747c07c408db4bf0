/**
 * `Math.exp` for numbers up to 0, five times as fast: sampling takes it of a whole vocabulary for every token, and it
 * is then the most expensive thing sampling does. Relative error below 1e-11.
 *
 *   e^x = 2^-(whole) · 2^-(step / STEPS) · e^-(rest)     two tables, and three terms of a series for the rest
 */
const STEPS_LOG2 = 11
const STEPS = 2 ** STEPS_LOG2
const STEPS_PER_UNIT = STEPS / Math.LN2
const UNITS_PER_STEP = Math.LN2 / STEPS
/** 2^-1075 is the first power that a double cannot hold. */
const WHOLE_POWERS = 1075

const wholePowers = Float64Array.from({ length: WHOLE_POWERS }, (_, i) => 2 ** -i)
const stepPowers = Float64Array.from({ length: STEPS }, (_, i) => 2 ** (-i / STEPS))

/** e to the power of `x`, which must not be above 0. */
export function fastExp(x: number): number {
  const steps = -x * STEPS_PER_UNIT
  if (steps >= WHOLE_POWERS * STEPS) return 0
  const wholeSteps = steps | 0
  const rest = (steps - wholeSteps) * UNITS_PER_STEP
  const power =
    (wholePowers[wholeSteps >> STEPS_LOG2] as number) * (stepPowers[wholeSteps & (STEPS - 1)] as number)
  return power * (1 - rest + rest * rest * 0.5)
}
