/** Gives a plugin of Fastify a name, which is otherwise looked for in every module that the process has loaded. */
import type { FastifyInstance } from 'fastify'

type Plugin = (app: FastifyInstance) => Promise<void>

export function namePlugin(name: string, plugin: Plugin): Plugin {
  return Object.assign(plugin, { [Symbol.for('fastify.display-name')]: name })
}
