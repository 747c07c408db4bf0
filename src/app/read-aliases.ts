/** Further names of models, as `--aliases` gives them. */
import type { ServerConfig } from '../config/server-config.ts'

export function readAliases({ aliases }: Pick<ServerConfig, 'aliases'>): ReadonlyMap<string, string> {
  return new Map(
    aliases.map((alias) => [alias.slice(0, alias.indexOf('=')), alias.slice(alias.indexOf('=') + 1)]),
  )
}
