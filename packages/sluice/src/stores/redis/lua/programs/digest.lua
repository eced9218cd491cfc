-- Returns the digest under which the server caches the text of a program. The server computes it, because some processes that send programs
-- cannot compute SHA-1.
--
-- ARGV[1]     the text
-- returns     its SHA-1 in hexadecimal digits

return redis.sha1hex(ARGV[1])
