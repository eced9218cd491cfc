import { expect, test } from 'vitest'
import { settingsOf } from '../../src/package-test/place.ts'

test("the repository's settings of npm are named as npm hands them on", () => {
  const text = '# a comment\nengine-strict=true\nfund = false\n\n//host/:_authToken=x\n'
  expect(settingsOf(text)).toEqual(['npm_config_engine_strict', 'npm_config_fund'])
})
