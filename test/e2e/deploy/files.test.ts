/** The files of deploy/ name only what there is: options, variables, commands, paths, metrics, routes. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { PROMTOOL, SYSTEMD_ANALYZE } from '../../../tools/optional-programs.mjs'
import { parseCommandLine } from '../../../src/cli/command-line.ts'
import { envName, flagName } from '../../../src/config/option-names.ts'
import { FLAG_NAMES, OPTION_NAMES } from '../../../src/config/options.ts'
import { resolveConfig } from '../../../src/config/resolve.ts'
import { temporaryFolder } from '../../support/servers/server-process.ts'

const ROOT = path.resolve(import.meta.dirname, '../../..')
const FILES = (readdirSync(path.join(ROOT, 'deploy'), { recursive: true }) as string[])
  .map((file) => path.join('deploy', file))
  .filter((file) => statSync(path.join(ROOT, file)).isFile())
const textOf = (file: string) => readFileSync(path.join(ROOT, file), 'utf8')
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found)

/** Options of Node, Docker, kubectl and others that the files name as well. */
const FLAGS_OF_OTHERS = new Set([
  '--build',
  '--config',
  '--model',
  '--scale',
  '--from',
  '--from-file',
  '--gpus',
  '--ignore-scripts',
  '--interval',
  '--no-save',
  '--omit',
  '--platform',
  '--maxmemory',
  '--maxmemory-policy',
  '--retries',
  '--save',
  '--start-period',
  '--timeout',
])
const METRICS = new Set(matches(textOf('docs/metrics.md'), /`(sluice_\w+)`/g))
const ROUTES = /^\/v1\/(?:health|ready|admin)$/

describe.each(FILES)('%s', (file) => {
  const text = textOf(file)

  it('names options that exist', () => {
    const flags = new Set([...FLAG_NAMES.map(flagName), ...FLAGS_OF_OTHERS])
    expect(matches(text, /(?<![\w-])(--[a-z][a-z-]+)/g).filter((flag) => !flags.has(flag))).toEqual([])
    const names = new Set(FLAG_NAMES.map(envName))
    expect(matches(text, /\b(SLUICE_\w+)/g).filter((name) => !names.has(name))).toEqual([])
  })

  it('names paths, metrics and routes that exist', () => {
    const paths = matches(text, /(?<![\w/.-])((?:deploy|docs|models|bin|src)\/[\w./-]*\w)/g)
    expect(paths.filter((one) => !existsSync(path.join(ROOT, one)))).toEqual([])
    const metrics = matches(text, /\b(sluice_\w+)/g).map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
    expect(metrics.filter((name) => !METRICS.has(name))).toEqual([])
    expect(matches(text, /(\/v1\/\w+)/g).filter((route) => !ROUTES.test(route))).toEqual([])
  })
})

describe('the images', () => {
  const images = ['deploy/docker/Dockerfile', 'deploy/docker/Dockerfile.cuda'].map((file) => ({
    file,
    text: textOf(file),
  }))

  it.each(images)('$file copies what there is, and what the package has', ({ text }) => {
    const { files } = JSON.parse(textOf('package.json')) as { files: string[] }
    const built = new Set(['node_modules', 'dist'])
    const copied = matches(text, /^COPY --from=build \/app\/(\S+)/gm)
    expect(copied.filter((name) => !built.has(name) && !existsSync(path.join(ROOT, name)))).toEqual([])
    expect(copied).toEqual(expect.arrayContaining(files.filter((name) => !/[!]|\.md$/.test(name))))
    expect(matches(text, /^USER (\S+)/gm)).toEqual(['1000:1000'])
  })

  it.each(images)('$file keeps what comes from the Hub on its volume', ({ text }) => {
    const [volume = ''] = matches(text, /^VOLUME (\S+)$/gm)
    expect(matches(text, /HF_HOME=(\S+)/g)).toEqual([expect.stringContaining(`${volume}/`)])
  })

  it.each(images)('$file starts with options that are allowed together', ({ text }) => {
    const pairs = [...text.matchAll(/\b(SLUICE_\w+)=(\S+)/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ])
    expect(resolveConfig({ env: Object.fromEntries(pairs) as Record<string, string> }).host).toBe('0.0.0.0')
  })

  it('take the libraries for CUDA in the version of the others', () => {
    const { optionalDependencies } = JSON.parse(textOf('package.json')) as {
      optionalDependencies: Record<string, string>
    }
    expect(matches(textOf('deploy/docker/Dockerfile.cuda'), /linux-x64-cuda@([\d.]+)/g)).toEqual([
      optionalDependencies['@node-llama-cpp/linux-x64'],
    ])
  })
})

describe('Kubernetes', () => {
  const objects = parseAllDocuments(textOf('deploy/kubernetes/sluice.yaml')).map(
    (document) => document.toJS() as { kind: string; data?: Record<string, string> },
  )

  it('has a configuration that a server starts with', () => {
    const folder = temporaryFolder()
    const secret = path.join(folder, 'admin-keys')
    writeFileSync(secret, 'an-admin-key-of-the-test\n')
    const map = objects.find(({ kind }) => kind === 'ConfigMap')
    const file = path.join(folder, 'sluice.yaml')
    writeFileSync(file, (map?.data?.['sluice.yaml'] ?? '').replace('/etc/sluice/secret/admin-keys', secret))
    const values = parseAllDocuments(readFileSync(file, 'utf8'))[0]?.toJS() as Record<string, unknown>
    expect(Object.keys(values).filter((name) => !OPTION_NAMES.some((option) => option === name))).toEqual([])
    expect(resolveConfig({ file: { path: file, values } }).adminKey).toBe('an-admin-key-of-the-test')
  })

  it('gives a start the time of migrations and downloads, whose files outlive the pod', () => {
    const text = textOf('deploy/kubernetes/sluice.yaml')
    const [, period, failures] =
      /startupProbe:[^]*?periodSeconds: (\d+)\s+failureThreshold: (\d+)/.exec(text) ?? []
    expect(Number(period) * Number(failures)).toBeGreaterThanOrEqual(900)
    expect(matches(text, /name: HF_HOME, value: (\S+) /g)).toEqual([expect.stringMatching(/^\/data\//)])
  })

  it('gives a pod longer than its server takes to stop', () => {
    const text = textOf('deploy/kubernetes/sluice.yaml')
    const [grace = 0] = matches(text, /terminationGracePeriodSeconds: (\d+)/g).map(Number)
    const [shutdown = 0] = matches(text, /shutdownTimeout: (\d+)/g).map(Number)
    const [pause = 0] = matches(text, /\[sleep, '(\d+)'\]/g).map(Number)
    expect(pause).toBeGreaterThan(0)
    expect(grace).toBeGreaterThan(shutdown + pause)
  })
})

describe('the systemd unit', () => {
  const unit = textOf('deploy/sluice.service')

  it('starts a command that there is', () => {
    const [words = ''] = matches(unit, /^ExecStart=\/usr\/bin\/sluice (.*)$/gm)
    expect(parseCommandLine(words.split(' '))).toMatchObject({ kind: 'serve' })
  })

  it.skipIf(SYSTEMD_ANALYZE === null)('is one that systemd understands', () => {
    const file = path.join(temporaryFolder(), 'sluice.service')
    writeFileSync(file, unit.replace('/usr/bin/sluice', process.execPath))
    const output = execFileSync(SYSTEMD_ANALYZE ?? '', ['verify', file], { encoding: 'utf8', stdio: 'pipe' })
    expect(output).toBe('')
  })
})

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { readonly expr: string }[]
  }[]
}

describe('the dashboard and the alerts', () => {
  const { panels } = JSON.parse(textOf('deploy/grafana/sluice.json')) as Dashboard
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const alerts = matches(textOf('deploy/prometheus/alerts.yaml'), /- alert: (\w+)/g)

  it('have an explanation of each alert, and no panel without what it shows', () => {
    const explained = matches(textOf('docs/operating.md'), /`(Sluice[A-Z]\w+)`/g)
    expect(explained.toSorted()).toEqual(alerts.toSorted())
    expect(expressions.length).toBeGreaterThan(20)
  })

  it.skipIf(PROMTOOL === null)('are what Prometheus understands', () => {
    const rules = expressions.map((expr, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '1m'),
    }))
    const file = path.join(temporaryFolder(), 'panels.yaml')
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
    const files = [path.join(ROOT, 'deploy/prometheus/alerts.yaml'), file]
    const output = execFileSync(PROMTOOL ?? '', ['check', 'rules', ...files], { encoding: 'utf8' })
    expect(matches(output, /SUCCESS: (\d+) rules found/g).map(Number)).toEqual([
      alerts.length,
      expressions.length,
    ])
  })
})
