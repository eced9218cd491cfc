-- Returns the salt by which keys without room are spread over overflow states. If no salt is stored, stores the offered one.
--
-- KEYS[1]     the key of the salt
-- ARGV[1]     the offered salt
-- returns     the stored salt

redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
