/** An object whose methods run in the process at the other end of a channel, and the other end of that. */
import type { Channel, ChannelHandler } from './channel.ts'

/** For each method whether its answer is waited for. Properties that are no methods have no place here. */
export type RemoteMethods<Target> = { readonly [Name in keyof Target]: 'call' | 'cast' | 'castAtOnce' }

/** The methods that a remote object calls. */
export type CallingChannel = Pick<Channel, 'call' | 'cast' | 'castAtOnce'>

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
  channel: CallingChannel,
  prefix: string,
  methods: RemoteMethods<Target>,
): Target {
  const kinds: Readonly<Record<string, 'call' | 'cast' | 'castAtOnce'>> = methods
  return Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => {
      const path = `${prefix}.${name}`
      return [name, (...args: readonly unknown[]) => channel[kind](path, args)]
    }),
  ) as Target
}
