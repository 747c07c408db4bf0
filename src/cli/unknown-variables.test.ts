import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describeUnknownVariables } from './unknown-variables.ts'

const unknown = (env: Readonly<Record<string, string>>) => describeUnknownVariables({ env })

describe('describeUnknownVariables', () => {
  it('names what belongs to no option, and what was probably meant, without a value', () => {
    expect(unknown({ SLUICE_ADMIN_KEYS: 'hidden' })).toBe(
      'no option has this variable, which is ignored: SLUICE_ADMIN_KEYS (did you mean SLUICE_ADMIN_KEY?).',
    )
    expect(unknown({ SLUICE_PROT: '80', SLUICE_OTHER_THINGS: 'x' })).toBe(
      'no option has these variables, which are ignored: SLUICE_PROT (did you mean SLUICE_PORT?), SLUICE_OTHER_THINGS.',
    )
    expect(unknown({ SLUICE_MODELS: '[]' })).toContain('SLUICE_MODELS')
  })

  it.each([
    [{ SLUICE_PORT: '80', SLUICE_API_KEY: 'of-a-chat', HOME: '/', SLUICE_PROT: '' }],
    [
      {
        SLUICE_SERVICE_HOST: '10.0.0.1',
        SLUICE_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
        SLUICE_SERVICE_PORT_HTTP: '1',
      },
    ],
    [{ SLUICE_REDIS: 'env:SLUICE_REDIS_URL', SLUICE_REDIS_URL: 'redis://hidden' }],
  ])('has nothing to say of %j', (env) => {
    expect(unknown(env)).toBeNull()
  })

  it('knows the variables that the configuration file refers to', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sluice-variables-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const config = path.join(folder, 'sluice.yaml')
    writeFileSync(config, 'adminKey: env:SLUICE_SECRET\n')
    const env = { SLUICE_SECRET: 'hidden', SLUICE_SECRET_2: 'hidden' }
    expect(describeUnknownVariables({ flags: { config }, env })).toBe(
      'no option has this variable, which is ignored: SLUICE_SECRET_2.',
    )
  })
})
