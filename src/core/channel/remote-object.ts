/** An object whose methods run in the process at the other end of a channel, and the other end of that. */
import type { Channel, ChannelHandler } from './channel.ts'

/** For each method whether its answer is waited for. Properties that are no methods have no place here. */
export type RemoteMethods<Target> = { readonly [Name in keyof Target]: 'call' | 'cast' }

/** The methods of `target`, for the handlers of a channel. */
export function handlersOf<Target extends object>(
  prefix: string,
  target: Target,
  methods: RemoteMethods<Target>,
): Record<string, ChannelHandler> {
  return Object.fromEntries(
    (Object.keys(methods) as (keyof Target & string)[]).map((name) => {
      const method = target[name] as (...args: readonly unknown[]) => unknown
      return [`${prefix}.${name}`, (args: readonly unknown[]) => method.apply(target, [...args])]
    }),
  )
}

export function remoteObject<Target extends object>(
  channel: Pick<Channel, 'call' | 'cast'>,
  prefix: string,
  methods: RemoteMethods<Target>,
): Target {
  return Object.fromEntries(
    Object.entries(methods).map(([name, kind]) => {
      const path = `${prefix}.${name}`
      return [
        name,
        kind === 'call'
          ? (...args: readonly unknown[]) => channel.call(path, args)
          : (...args: readonly unknown[]) => channel.cast(path, args),
      ]
    }),
  ) as Target
}
