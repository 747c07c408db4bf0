import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../config/resolve.ts'
import type { ServerConfig } from '../../config/server-config.ts'
import { describeDemo, describeStart } from './describe-start.ts'

const ADDRESS = 'http://127.0.0.1:8080'
const MADE = {
  address: ADDRESS,
  consoleUrl: null,
  operatorKey: 'sk-svc-made',
  withoutOperatorKey: null,
} as const

const because = (withoutOperatorKey: 'open' | 'api-keys' | 'admin-key' | 'accounts') => ({
  address: ADDRESS,
  consoleUrl: null,
  operatorKey: null,
  withoutOperatorKey,
})

const withModel = (options: Partial<ServerConfig> = {}): ServerConfig => ({
  ...resolveConfig({ flags: { checkpoint: 'model.gguf' } }),
  ...options,
})

describe('describeStart', () => {
  it('says that the passthrough model serves where no other was given', () => {
    const sentence =
      'sluice: no --checkpoint given, so the passthrough model serves: it repeats each prompt and understands nothing; --checkpoint demo serves the demo model, --checkpoint PATH your own.'

    expect(describeStart(resolveConfig({}), because('api-keys'))).toEqual([sentence])
    expect(describeStart(withModel(), because('api-keys'))).toEqual([])
    const files = { checkpoint: 'm.gguf', modelConfig: null, tokenizer: null } as const
    const source = { ...files, quantization: 'none', toolFormat: 'auto' } as const
    expect(
      describeStart({ ...resolveConfig({}), models: [{ id: 'm', ...source }] }, because('open')),
    ).toEqual([])
    const upstream = resolveConfig({ flags: { upstream: 'http://127.0.0.1:1' } })
    expect(describeStart(upstream, because('open'))).toEqual([])
  })

  it('says that the bundled model is a toy, by its name and by its path', async () => {
    const toy =
      /^sluice: demo model: a toy of \d+ million parameters; your own: --checkpoint PATH or hf:org\/repo$/
    for (const checkpoint of ['demo', 'models/demo']) expect(await describeDemo({ checkpoint })).toMatch(toy)
    for (const checkpoint of ['other/demo', null]) expect(await describeDemo({ checkpoint })).toBeNull()
  })

  it('shows the key of this run in a request to paste', () => {
    const [request, ...more] = describeStart(withModel(), MADE)

    expect(more).toEqual([])
    expect(request).toMatch(
      /^sluice: no --api-keys given, so this run has a key of its own; try it:\n {2}curl /,
    )
    expect(request).toContain("-H 'Authorization: Bearer sk-svc-made'")
  })

  it('shows the link of the console above the key', () => {
    const consoleUrl = `${ADDRESS}/#token=made`

    const [link, request] = describeStart(withModel(), { ...MADE, consoleUrl })

    expect(link).toBe(`sluice: open ${consoleUrl}`)
    expect(request).toContain('sk-svc-made')
  })

  it('says why there is no key, and which command makes one', () => {
    const config = withModel({ dataDir: "/srv/it's here" })

    expect(describeStart(config, because('accounts'))).toEqual([
      "sluice: no key is printed because there are accounts or keys already; sluice keys create --data-dir '/srv/it'\\''s here' makes one.",
    ])
    expect(describeStart(withModel({ apiDb: '/srv/api.db' }), because('admin-key'))).toEqual([
      'sluice: no key is printed because an admin key is set; sluice keys create --api-db /srv/api.db makes one.',
    ])
    expect(describeStart(withModel({ apiDb: ':memory:' }), because('admin-key'))).toEqual([
      "sluice: no key is printed because an admin key is set; curl -X POST -H 'Authorization: Bearer <admin key>' http://127.0.0.1:8080/v1/admin/keys makes one.",
    ])
  })
})
