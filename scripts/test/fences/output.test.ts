import { describe, expect, it } from 'vitest'
import { looksLike } from '../../src/fences/output.ts'

describe('looksLike', () => {
  it.each([
    ['a\nb\n', 'a\nb'],
    ['a\nb', '\na  \nb\n\n'],
    ['a\n...\nd', 'a\nb\nc\nd'],
    ['a\n...\nd', 'a\nd'],
    ['...\nd', 'd\nc\nd'],
    ['a\n...', 'a'],
    ['a\n...', 'a\nb\nc'],
    ['...', ''],
    ['...\nb\n...\nb\n...', 'a\nb\nb\nc'],
    ['at ... of (x)', 'at 12:30 of (x)'],
    ['a...', 'a'],
    ['a.c', 'a.c'],
    ['green', '\u001B[32mgreen\u001B[0m'],
    ['', ''],
  ])('takes %j for %j', (expected, printed) => {
    expect(looksLike(expected, printed)).toBe(true)
  })

  it.each([
    ['a', ''],
    ['', 'a'],
    ['a', 'a\nb'],
    ['a\nb', 'a'],
    ['b\na', 'a\nb'],
    ['a\n...\nd', 'a\nb\nc'],
    ['...\nb\n...\nb\n...', 'a\nb\nc'],
    ['a.c', 'abc'],
    ['at ... of x', 'at 12:30 of y'],
  ])('does not take %j for %j', (expected, printed) => {
    expect(looksLike(expected, printed)).toBe(false)
  })
})
