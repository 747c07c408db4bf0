import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts', 'tools/**/*.test.ts', 'bench/**/*.test.ts'] } },
      { test: { name: 'contract', include: ['test/contract/**/*.test.ts'], testTimeout: 20_000 } },
      {
        test: {
          name: 'model',
          include: ['test/model/**/*.test.ts'],
          setupFiles: ['test/support/engines/quiet-native-log.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      // The built program with real processes and ports: two files at once, because two cores are
      // all it may count on, and after all the others.
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
