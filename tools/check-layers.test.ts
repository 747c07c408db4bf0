import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSources } from '../test/support/source-tree.ts'
import { checkLayers, LAYERS } from './check-layers.mjs'

/** What is found in a source tree of these files. */
const check = (files: Readonly<Record<string, string>>) => checkLayers(createSources(files))

describe('the layers', () => {
  it('allow imports down, within a part, of Node and of owned packages', () => {
    const found = check({
      'core/ids.ts': `import { randomUUID } from 'node:crypto'\nimport fs from 'fs'`,
      'config/resolve.ts': `import { parse } from 'yaml'\nimport { a } from './rules.ts'\nimport '../core/ids.ts'`,
      'config/rules.ts': '',
      'engines/llamacpp/native.ts': `import koffi from 'koffi'\nimport { b } from '../local/loop.ts'`,
      'engines/process/loop.ts': `import { c } from '../../scheduler/scheduler.ts'`,
      'api/app.ts': `import cors from '@fastify/cors'\nimport fastify from 'fastify'`,
      'app/create-server.ts': `import { d } from '../api/app.ts'`,
      'index.ts': `export { createServer } from './app/create-server.ts'`,
    })
    expect(found).toEqual([])
  })

  it.each([
    ['upwards', 'core/ids.ts', `import { x } from '../api/app.ts'`, 'above it (core 0, api 5)'],
    [
      'sideways',
      'models/a.ts',
      `import type { X } from '../engines/b.ts'`,
      'in the same layer (models 3, engines 3)',
    ],
    [
      'to the composition root',
      'api/a.ts',
      `import { x } from '../app/create-server.ts'`,
      'above it (api 5, app 6)',
    ],
    ['by a re-export', 'core/a.ts', `export * from '../config/b.ts'`, 'above it'],
    ['over several lines', 'core/a.ts', `import {\n  x,\n  y,\n} from '../config/b.ts'`, 'above it'],
    ['without names', 'core/a.ts', `import '../config/b.ts'`, 'above it'],
    ['dynamically', 'core/a.ts', `const x = await import('../config/b.ts')`, 'above it'],
    ['in a type', 'core/a.ts', `type X = import('../config/b.ts').X`, 'above it'],
    ['out of src', 'cli/a.ts', `import x from '../../tools/b.ts'`, 'which is outside src'],
    ['of an unknown part', 'core/a.ts', `import x from '../helpers/b.ts'`, 'but helpers has no layer'],
  ])('refuse an import %s', (_, file, text, problem) => {
    const [found, ...more] = check({ [file]: text })
    expect(found).toMatch(new RegExp(`^src/${file}: imports `))
    expect(found).toContain(problem)
    expect(more).toEqual([])
  })

  it('refuse a part that is not in the table', () => {
    expect(check({ 'helpers/a.ts': `import '../core/b.ts'` })).toEqual([
      'src/helpers/a.ts: imports ../core/b.ts, but helpers has no layer',
    ])
  })

  it.each([
    ['api/a.ts', 'yaml', 'a package that only config may import'],
    ['config/a.ts', 'zod/v4', 'a package that only api may import'],
    ['models/a.ts', '@fastify/swagger', 'a package that only api may import'],
    ['core/a.ts', '@node-llama-cpp/linux-x64', 'a package that only engines may import'],
    ['api/a.ts', 'lodash', 'a package without an owner'],
    ['api/a.ts', '@huggingface/other', 'a package without an owner'],
  ])('refuse in %s the package %s', (file, specifier, problem) => {
    expect(check({ [file]: `import x from '${specifier}'` })).toEqual([
      `src/${file}: imports ${specifier}, ${problem}`,
    ])
  })

  it('leave tests free and do not read comments or texts', () => {
    const text = [
      `// import { x } from '../api/app.ts'`,
      `/* import '../api/app.ts' */`,
      `const url = 'https://example.org' // import('../api/app.ts')`,
    ].join('\n')
    expect(check({ 'core/a.ts': text, 'core/a.test.ts': `import '../api/app.ts'` })).toEqual([])
  })
})

it.each(['docs/architecture.md', 'CONTRIBUTING.md'])('the layers are those that %s shows', (file) => {
  const text = readFileSync(path.join(import.meta.dirname, '..', file), 'utf8')
  const rows = [...text.matchAll(/^\| (\d) \| ([^|]*) \|/gm)].flatMap(([, layer, parts = '']) =>
    [...parts.matchAll(/`([^`]+)`/g)].map(([, part]) => [part, Number(layer)]),
  )
  expect(new Map(rows as [string, number][])).toEqual(LAYERS)
})

describe('the light server', () => {
  it('may load what stands on Node, a key database and a checkpoint dynamically, and anything as a type', () => {
    const found = check({
      'light.ts': `export { a } from './app/create-light-server.ts'`,
      'app/create-light-server.ts': [
        `import http from 'node:http'`,
        `import { a } from '../light/router.ts'`,
        `import type { S } from '../scheduler/scheduler.ts'`,
        `const keys = await import('../accounts/keys/key-file.ts')`,
        `const checkpoint = await import('./light-checkpoint.ts')`,
      ].join('\n'),
      'light/router.ts': `import { b } from '../core/errors.ts'`,
      'core/errors.ts': '',
    })
    expect(found).toEqual([])
  })

  it.each([
    [
      'another part',
      `import { a } from './models/registry.ts'`,
      'src/light.ts: the light server loads models/registry.ts through src/light.ts; import it dynamically',
    ],
    [
      'another file of the composition root',
      `import { a } from './app/create-server.ts'`,
      'src/light.ts: the light server loads app/create-server.ts through src/light.ts; import it dynamically',
    ],
    [
      'something else dynamically',
      `const x = await import('./models/registry.ts')`,
      'src/light.ts: the light server may not import models/registry.ts, not even dynamically',
    ],
  ])('may not load %s', (_, text, problem) => {
    expect(check({ 'light.ts': text })).toEqual([problem])
  })

  it('may not load a package through a file that it loads', () => {
    const found = check({
      'light.ts': `import { a } from './core/a.ts'`,
      'core/a.ts': `export { b } from './b.ts'`,
      'core/b.ts': `import { pino } from 'pino'`,
    })
    expect(found).toContain(
      'src/light.ts: the light server loads pino through src/core/b.ts; import it dynamically',
    )
  })

  it('may load the scheduler in its threads, and no more', () => {
    const worker = (text: string) =>
      check({ 'light/workers/generation-worker.ts': text, 'scheduler/a.ts': '' })

    expect(worker(`import { a } from '../../scheduler/a.ts'`)).toEqual([])
    expect(worker(`import { a } from '../../storage/a.ts'`)).toEqual([
      'src/light/workers/generation-worker.ts: the light server loads storage/a.ts through src/light/workers/generation-worker.ts; import it dynamically',
    ])
  })
})
