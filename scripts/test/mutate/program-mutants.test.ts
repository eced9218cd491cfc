import { describe, expect, it } from 'vitest'
import { applied, mutantsOf } from '../../src/mutate/mutants.ts'

/** What a program becomes, each variant once. */
const variants = (file: string, source: string): string[] =>
  [...new Set(mutantsOf(file, source).map((mutant) => applied(source, mutant)))].sort()

describe('mutants of Lua', () => {
  it.each([
    ['local a = b + c', ['local a = b - c']],
    ['local a = b .. c', []],
    ['local a = -b % c', ['local a = b % c', 'local a = -b * c']],
    ['local a = b == c and d', ['local a = b ~= c and d', 'local a = b == c or d']],
    ['local a = b <= c', ['local a = b < c', 'local a = b > c']],
    ['local a = not b', ['local a = b']],
    ['local a = 7', ['local a = 8']],
    ['local a = 1', ['local a = 0']],
    ["local a = 'b + 1' -- and 2", []],
    ['local a = true', ['local a = false']],
    ['local a = math.max(b, c)', ['local a = math.min(b, c)']],
    ['local a = { min = b }', []],
    ['a = b', ['']],
    ['f(a,\n  b)', ['']],
    ['return a', ['return']],
    ['return nil', []],
    ['if a then break end', ['if a then  end', 'if false then break end', 'if true then break end']],
    [
      'if a then\n  b = c\nelse\n  d()\nend',
      ['false', 'true']
        .map((to) => `if ${to} then\n  b = c\nelse\n  d()\nend`)
        .concat('if a then\n  \nelse\n  d()\nend', 'if a then\n  b = c\nelse\n  \nend'),
    ],
    ['while a do f() end', ['while a do  end', 'while false do f() end']],
    ['local function f(a)\n  return a\nend', ['local function f(a)\n  return\nend']],
    ['f({\n  of = function(a)\n    g(a)\n  end,\n})', ['', 'f({\n  of = function(a)\n    \n  end,\n})']],
    ['for k, v in pairs(a) do f(k) end\ng()', ['for k, v in pairs(a) do  end\ng()', 'for k, v in pairs(a) do f(k) end\n']],
  ])('%s', (source, expected) => {
    expect(variants('a.lua', source)).toEqual([...expected].sort())
  })
})

describe('mutants of SQL', () => {
  it.each([
    ['a := b + 7;', ['a := b - 7;', 'a := b + 8;', 'null;']],
    ['a := -b;', ['a := b;', 'null;']],
    ['a[i] := b;', ['null;']],
    ['a := b || c;', ['null;']],
    ['exit when a;', ['exit when false;', 'exit when true;', 'null;']],
    ['if not a then return; end if;', ['if a then return; end if;', 'if false then return; end if;', 'if true then return; end if;']],
    ['return a;', ['return null;']],
    ["return 'a + 1';", ['return null;']],
    ['perform f(a) -- 1 + 1\n;', ['null -- 1 + 1\n;']],
    [
      'delete from t where t.a <> b and t.c is null returning t.*;',
      [
        'delete from t where t.a = b and t.c is null returning t.*;',
        'delete from t where t.a <> b or t.c is null returning t.*;',
        'delete from t where t.a <> b and t.c is not null returning t.*;',
        'delete from t where true returning t.*;',
        'delete from t where false returning t.*;',
        'null;',
      ],
    ],
    ['perform count(*) from t;', ['null;']],
    ['a := greatest(b, true);', ['a := least(b, true);', 'a := greatest(b, false);', 'null;']],
    ['a := case when b then c else d end;', ['a := case when false then c else d end;', 'a := case when true then c else d end;', 'null;']],
  ])('%s', (source, expected) => {
    expect(variants('a.sql', source)).toEqual([...expected].sort())
  })

  it('leaves what is around the bodies of functions, and declarations, as they are', () => {
    const source = `create table t (a int default 7);\ncreate function f(a int default 7) returns int as $$\ndeclare\n  b int;\nbegin\n  b := a;\nend $$;\n`
    expect(variants('a.sql', source)).toEqual([source.replace('b := a', 'null')])
  })
})
