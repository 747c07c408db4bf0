/** The parts that guard the service beyond keys and limits, as they are configured: null where one is off. */
import type { AppDeps } from '../api/deps.ts'
import { listSecrets } from '../config/secret-kinds.ts'
import type { ServerConfig } from '../config/server-config.ts'
import type { SharedState } from '../core/shared-state.ts'
import { AddressRules } from '../guards/address-list.ts'
import { Firewall } from '../guards/firewall/firewall.ts'
import { OutputGuard } from '../guards/output/output-guard.ts'
import { PromptGuard } from '../guards/prompt/prompt-guard.ts'
import { TrustedProxies } from '../guards/trusted-proxies.ts'
import { addressKey, isLoopbackAddress } from '../net/client-address.ts'
import { AddressLimiter } from '../limits/address-limiter.ts'

export interface Guards extends Pick<
  AppDeps,
  'trustedProxies' | 'addressRules' | 'firewall' | 'addressLimiter' | 'promptGuard' | 'outputGuard'
> {
  /** Watches generated text for these admin keys in the place of those from before. */
  watchForAdminKeys(adminKeys: readonly string[]): void
  /** Call when no request is running. */
  close(): Promise<void>
}

interface GuardsDeps extends Pick<SharedState, 'requests' | 'bans'>, Pick<AppDeps, 'metrics' | 'log'> {}

export function createGuards(config: ServerConfig, { requests, bans, metrics, log }: GuardsDeps): Guards {
  const { rateLimit, cidrAllow, cidrDeny, apiKeys } = config
  const trustedProxies = config.trustedProxies.length === 0 ? null : new TrustedProxies(config.trustedProxies)
  const isExempt = (address: string) =>
    isLoopbackAddress(address) || trustedProxies?.includes(address) === true
  const hasAddressRules = cidrAllow.length > 0 || cidrDeny.length > 0
  const promptGuard = config.disablePromptInjection ? null : new PromptGuard()
  const createFirewall = (): Firewall =>
    new Firewall({
      bans,
      toKey: addressKey,
      isExempt,
      onHit: (rule) => metrics.countGuardHit({ guard: 'firewall', rule }),
      // Addresses are not in the log; the admin API shows them.
      onBan: ({ count, secondsLeft }) => log.warn({ count, seconds: secondsLeft }, 'an address was banned'),
    })
  const secretsWith = (adminKeys: readonly string[]) => [
    ...adminKeys,
    ...listSecrets(config.metricsKey),
    ...apiKeys,
  ]
  const outputGuard = config.disableOutputVerify
    ? null
    : new OutputGuard({ secrets: secretsWith(listSecrets(config.adminKey)) })
  return {
    trustedProxies,
    addressRules: hasAddressRules ? new AddressRules({ allow: cidrAllow, deny: cidrDeny }) : null,
    firewall: config.enableFirewall ? createFirewall() : null,
    addressLimiter:
      rateLimit === null ? null : new AddressLimiter({ requestsPerMinute: rateLimit, limits: requests }),
    promptGuard,
    outputGuard,
    watchForAdminKeys: (adminKeys) => outputGuard?.watchFor(secretsWith(adminKeys)),
    close: async () => promptGuard?.close(),
  }
}
