-- Some processes cannot compute SHA-1.
--
-- ARGV[1]     the text
-- returns     its SHA-1 in hexadecimal digits

return redis.sha1hex(ARGV[1])
