-- The salt under which keys without room are spread over shared states: the one that is there, or the first that is offered.
--
-- KEYS[1]     where it lies
-- ARGV[1]     the offered one
-- returns     the salt

redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
