/** What an application is told of the models while they are downloaded and loaded. */
import { guardedCall } from '../../core/guarded-call.ts'
import { StartError } from '../../core/errors.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import type { DownloadHooks } from './start-models.ts'

export interface ServerHooks extends DownloadHooks {
  /** Called while a model loads, with 0 to 1. */
  readonly onLoadProgress?: ((modelId: string, fraction: number) => void) | undefined
}

const CALLS = ['onLoadProgress', 'onDownloadProgress', 'onNotice'] as const
const NAMES: readonly string[] = [...CALLS, 'signal']

/**
 * Hooks that cannot hurt the server: what one of them throws is a line of the log.
 * @throws StartError for one that is unknown or no function
 */
export function guardHooks(hooks: ServerHooks, log: LogWriter): ServerHooks {
  const unknown = Object.keys(hooks).find((name) => !NAMES.includes(name))
  if (unknown !== undefined) {
    throw new StartError(`createServer has no hook '${unknown}'; its hooks are ${NAMES.join(', ')}.`, 2)
  }
  const { signal } = hooks
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new StartError('The hook signal must be an AbortSignal.', 2)
  }
  const guard = <Given extends readonly unknown[]>(
    name: (typeof CALLS)[number],
    hook: ((...given: Given) => void) | undefined,
  ) => {
    if (hook === undefined) return {}
    if (typeof hook !== 'function') throw new StartError(`The hook ${name} must be a function.`, 2)
    let hasFailed = false
    const onFailure = (err: unknown): void => {
      // Progress comes often, and would fail as often.
      if (!hasFailed) log.error({ err, hook: name }, 'a hook of the application failed')
      hasFailed = true
    }
    return { [name]: guardedCall(hook, onFailure) }
  }
  return {
    ...guard('onLoadProgress', hooks.onLoadProgress),
    ...guard('onDownloadProgress', hooks.onDownloadProgress),
    ...guard('onNotice', hooks.onNotice),
    ...(signal !== undefined && { signal }),
  }
}
