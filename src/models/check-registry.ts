/** Checks what an application gives a registry, which may be written without types. */
import type { SleepingClock } from '../core/clock.ts'
import { requireObject, showValue, StartError } from '../core/errors.ts'
import type { RegisterOptions, RegistryOptions } from './registry-options.ts'

const LOAD_TIMES: readonly unknown[] = ['now', 'if-room', 'request']

/** @throws StartError */
export function checkRegistryOptions(options: RegistryOptions): void {
  requireObject('options of ModelRegistry', options)
  const { openEngine, openFallback, clock, maxQueue, maxLoaded = null, idleUnloadMs = null } = options
  const { servedClasses, outlineModel, onChange, aliases } = options
  refuseUnless(isFunction(openEngine), 'openEngine must be a function', openEngine)
  refuseUnless(isFunction(openFallback), 'openFallback must be a function', openFallback)
  for (const [name, given] of Object.entries({ servedClasses, outlineModel, onChange }))
    refuseUnless(given === undefined || isFunction(given), `${name} must be a function`, given)
  refuseUnless(isClock(clock), 'clock must be an object with nowMs, unixSeconds and sleep', clock)
  refuseUnless(isCount(maxQueue), 'maxQueue must be a whole number of at least 1', maxQueue)
  refuseUnless(
    maxLoaded === null || isCount(maxLoaded),
    'maxLoaded must be null or a whole number of at least 1',
    maxLoaded,
  )
  refuseUnless(
    idleUnloadMs === null || (typeof idleUnloadMs === 'number' && idleUnloadMs > 0),
    'idleUnloadMs must be null or a number above 0',
    idleUnloadMs,
  )
  const hasAliases = aliases === undefined || isFunction((aliases as Partial<typeof aliases> | null)?.get)
  refuseUnless(hasAliases, 'aliases must be a Map', aliases)
}

/** @throws StartError */
export function checkRegisterOptions(options: RegisterOptions): void {
  requireObject('options of registry.register', options)
  const { load = 'now', isPinned = false, keepsFailed = true } = options
  refuseUnless(LOAD_TIMES.includes(load), `load must be one of ${LOAD_TIMES.join(', ')}`, load)
  refuseUnless(typeof isPinned === 'boolean', 'isPinned must be true or false', isPinned)
  refuseUnless(typeof keepsFailed === 'boolean', 'keepsFailed must be true or false', keepsFailed)
}

function refuseUnless(isRight: boolean, rule: string, given: unknown): void {
  if (!isRight) throw new StartError(`${rule}, but was ${showValue(given)}.`, 2)
}

function isFunction(given: unknown): boolean {
  return typeof given === 'function'
}

function isCount(given: unknown): boolean {
  return Number.isInteger(given) && Number(given) >= 1
}

function isClock(given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return false
  const clock = given as Partial<SleepingClock>
  return [clock.nowMs, clock.unixSeconds, clock.sleep].every(isFunction)
}
