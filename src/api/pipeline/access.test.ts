import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { requireDeclaredAccess } from './access.ts'

describe('requireDeclaredAccess', () => {
  it('refuses to start with a route that declares no access class, and names it', async () => {
    const app = Fastify()
    requireDeclaredAccess(app)
    app.get('/open', { config: { access: 'public' } }, () => 'ok')
    app.post('/forgotten', () => 'ok')

    await expect(app.ready()).rejects.toThrow('Routes without an access class: POST /forgotten')
  })

  it('starts when every route declares one, those of plugins too', async () => {
    const app = Fastify()
    requireDeclaredAccess(app)
    app.register(async (plugin) => {
      plugin.get('/plugin', { config: { access: 'key' } }, () => 'ok')
    })

    await expect(app.ready()).resolves.toBeDefined()
    await app.close()
  })
})
