-- Gets the service's decision on a request. Sets txn.sluice_status (0: no answer), and the header fields and the body for the client.

-- Header fields that are not sent to the service: those of the connection, and those by which a client could pretend another request.
local dropped = { ["connection"] = true, ["content-length"] = true, ["expect"] = true, ["host"] = true,
  ["keep-alive"] = true, ["te"] = true, ["transfer-encoding"] = true, ["upgrade"] = true, ["forwarded"] = true }

local function describe(txn)
  local headers = {}
  for name, lines in pairs(txn.http:req_get_headers()) do
    if not dropped[name] and not name:find("^x%-forwarded%-") and not name:find("^x%-original%-") then
      headers[name] = {}
      -- HAProxy numbers the values of a field from 0.
      for index = 0, #lines do headers[name][index + 1] = lines[index] end
    end
  end
  headers["x-original-method"] = { txn.sf:method() }
  headers["x-original-uri"] = { txn.sf:pathq() }
  headers["x-original-host"] = { txn.sf:req_hdr("host") }
  headers["x-forwarded-for"] = { txn.sf:src() }
  return headers
end

core.register_action("sluice", { "http-req" }, function(txn)
  local answer = core.httpclient():get({ url = "http://127.0.0.1:8082/v1/auth", timeout = 1000, headers = describe(txn) })
  txn:set_var("txn.sluice_status", answer and answer.status or 0)
  if not answer or not answer.headers then return end
  local function keep(variable, field)
    local lines = answer.headers[field]
    if lines then txn:set_var(variable, lines[0]) end
  end
  keep("txn.sluice_ratelimit", "ratelimit")
  keep("txn.sluice_policy", "ratelimit-policy")
  keep("txn.sluice_retry", "retry-after")
  -- HAProxy would send the newline at the end of the body as %0A.
  txn:set_var("txn.sluice_body", ((answer.body or ""):gsub("%s+$", "")))
end)
