-- The digest by which a server knows a text. Not every process that sends programs can compute it.
--
-- ARGV[1]     the text
-- returns     its SHA-1 in hexadecimal digits

return redis.sha1hex(ARGV[1])
