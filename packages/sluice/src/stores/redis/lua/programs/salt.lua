-- When the store is full, new keys share overflow states, and a hash with this salt chooses one for each key.
--
-- KEYS[1]     the key of the salt
-- ARGV[1]     the offered salt, which is stored if there is no salt yet
-- returns     the stored salt

redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
