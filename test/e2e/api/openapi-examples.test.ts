/** Each example of the documentation, sent as it stands there to a real server, is answered with 200. */
import { expect, inject, it } from 'vitest'
import { writeTinyBert } from '../../support/checkpoints/tiny-bert.ts'
import {
  SMALL_LLAMA,
  listening,
  logged,
  printed,
  spawnServer,
  temporaryFolder,
} from '../../support/servers/server-process.ts'

interface Operation {
  readonly operationId: string
  readonly requestBody?: { readonly content: Record<string, { readonly examples: Record<string, Example> }> }
}

interface Example {
  readonly value: Readonly<Record<string, unknown>>
}

interface Route extends Operation {
  readonly method: string
  readonly path: string
}

interface Sending {
  readonly headers?: Readonly<Record<string, string>>
  readonly params?: Readonly<Record<string, string>>
  /** What no document can know: the token of a link, the model of this server. */
  readonly known?: Readonly<Record<string, unknown>>
}

const bearer = (secret: unknown) => ({ headers: { authorization: `Bearer ${String(secret)}` } })

it('are all answered', async () => {
  const server = await listening(
    spawnServer(['--checkpoint', SMALL_LLAMA, '--threads', '1', '--registration', 'open'], {
      modelsOf: inject('convertedSmallLlama'),
    }),
  )
  await logged(server, 'serving')
  const token = await printed(server, /#token=(\S+)/)
  const { paths } = (await (await fetch(`${server.address}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Route => ({ ...operation, method, path })),
  )
  const left = new Map(routes.filter(hasExamples).map((route) => [route.operationId, route]))

  /** Sends all examples of an operation; resolves with the body and the cookie of the last answer. */
  const run = async (operationId: string, { headers = {}, params = {}, known = {} }: Sending = {}) => {
    const route = left.get(operationId)
    if (route === undefined) throw new Error(`there is no example of ${operationId} left`)
    left.delete(operationId)
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
    let last = { body: {} as Record<string, unknown>, cookie: '' }
    for (const { value } of Object.values(route.requestBody?.content['application/json']?.examples ?? {})) {
      const response = await fetch(server.address + path, {
        method: route.method.toUpperCase(),
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ ...value, ...known }),
      })
      const text = await response.text()
      expect([operationId, value, response.status, response.status === 200 ? '' : text]).toEqual([
        operationId,
        value,
        200,
        '',
      ])
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
      if (!isJson) expect(text).toMatch(/"finish_reason": ?"|message_stop|response\.(?:completed|incomplete)/)
      const body = isJson ? (JSON.parse(text) as Record<string, unknown>) : {}
      last = { body, cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' }
    }
    return last
  }

  const guest = await run('signIn', { known: { token } })
  const ofGuest = { cookie: guest.cookie, 'x-csrf-token': String(guest.body['csrf_token']) }
  const first = await run('createFirstAdmin', { headers: ofGuest })
  const admin = { headers: { cookie: first.cookie, 'x-csrf-token': String(first.body['csrf_token']) } }

  await run('register')
  const session = bearer((await run('login')).body['token'])
  const { body: key } = await run('createKey', session)
  const ofKey = { key_id: String(key['id']) }
  await run('renameKey', { ...session, params: ofKey })
  await run('changeKey', { ...admin, params: ofKey })
  const { body: user } = await run('createUser', admin)
  await run('changeUser', { ...admin, params: { user_id: String(user['user_id']) } })
  const { body: team } = await run('createTeam', admin)
  await run('changeTeam', { ...admin, params: { team_id: String(team['team_id']) } })
  const { body: invited } = await run('invite', admin)
  const [invitation] = invited['invitations'] as { link_path: string }[]
  await run('acceptInvitation', { known: { token: invitation?.link_path.split('=')[1] } })
  await run('checkModel', admin)
  // The bundled model of the example, which `checkModel` finds, is converted in a soak alone: that takes as long as all the rest.
  await run('registerModel', { ...admin, known: inject('isSoak') ? {} : { checkpoint: SMALL_LLAMA } })
  await run('changePassword', session)

  const registered = await fetch(`${server.address}/v1/admin/models`, {
    method: 'POST',
    headers: { ...admin.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'vectors', checkpoint: await writeTinyBert(temporaryFolder()) }),
  })
  expect(registered.status).toBe(200)
  const caller = bearer(key['key'])
  for (const id of ['createEmbeddings', 'rerank', 'rerankV2', 'rerankAtRoot'])
    await run(id, { ...caller, known: { model: 'vectors' } })
  for (const id of left.keys()) await run(id, caller)
})

const hasExamples = ({ requestBody }: Operation) =>
  requestBody?.content['application/json']?.examples !== undefined
