/**
 * What both exchanges begin with: the helpers, the gateways that are alive, and what this one reports, taken in.
 * The table of keys is in `valkey-scripts.ts`.
 */
export const PRELUDE = `
local ttl, live, self = 3888000000, tonumber(ARGV[3]), ARGV[2]
local base = string.sub(KEYS[1], 1, -4)
local now = tonumber(ARGV[1])
if not now then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000 + tonumber(t[2]) / 1000
end
local function str(x) return string.format('%.17g', x) end
local function int(x) return string.format('%.0f', x) end

local function stepOf(w, at)
  if w.s then
    local start = math.floor(at / w.s[1]) * w.s[1]
    return start, start + w.s[1]
  end
  for i = 1, #w.p - 1 do
    if at >= w.p[i] and at < w.p[i + 1] then return w.p[i], w.p[i + 1] end
  end
end
local function forgottenAt(w, start)
  if w.s then return math.floor(start / w.s[1]) * w.s[1] + w.s[2] end
  local _, stop = stepOf(w, start)
  return stop or 0
end

local defs, dyn = cjson.decode(ARGV[4]), cjson.decode(ARGV[5])
for _, def in ipairs(defs) do
  for _, w in ipairs(def.w) do
    if not stepOf(w, now) then return 'period ' .. str(now) end
  end
end

local function bury(gateway)
  local account = base .. 'a:' .. gateway
  local fields = redis.call('HGETALL', account)
  for i = 1, #fields, 2 do
    local cut = string.find(fields[i], '|', 1, true)
    if cut then
      local key, field = base .. string.sub(fields[i], 1, cut - 1), string.sub(fields[i], cut + 1)
      local total = redis.call('HGET', key, field)
      if total then redis.call('HSET', key, field, str(math.max(0, tonumber(total) - tonumber(fields[i + 1])))) end
      redis.call('HDEL', account, fields[i])
    end
  end
  redis.call('HDEL', KEYS[1], gateway)
end

local gateways, known = 1, 0
local alive = redis.call('HGETALL', KEYS[1])
for i = 1, #alive, 2 do
  local over = tonumber(alive[i + 1]) < now
  if over then bury(alive[i]) elseif alive[i] == self then known = 1 else gateways = gateways + 1 end
end
redis.call('HSET', KEYS[1], self, str(now + live))
redis.call('PEXPIRE', KEYS[1], ttl)
local last = tonumber(redis.call('HGET', KEYS[2], 'n') or '0')
if dyn.n <= last then return 'stale' end
local settled = base .. 'c:' .. ARGV[6]
local life = redis.call('HGET', settled, '!')
if life and life ~= self then return 'stale' end

local function bucket(left, size, rate, at, bound)
  if not left then return bound[1] end
  if now > at then left = math.min(size, left + (now - at) * rate) end
  if left > 0 and size ~= bound[1] then left = left / size * bound[1] end
  return left
end

local levels = {}
for i, def in ipairs(defs) do
  local names = { 'r', 'rc', 'rr', 't', 'tc', 'tr', 'a', 's', 'q', 'p', 'W' }
  local mine = { 'n', def.k .. '|s', def.k .. '|q' }
  for _, w in ipairs(def.w) do
    for _, field in ipairs({ 'u|', 'v|', 'e|', 'g|', 'o|', 'f|' }) do names[#names + 1] = field .. w.n end
    mine[#mine + 1] = def.k .. '|v|' .. w.n
  end
  local h = redis.call('HMGET', KEYS[2 + i], unpack(names))
  local held = redis.call('HMGET', KEYS[2], unpack(mine))
  local function number(field) return tonumber(h[field] or '') end
  local at = number(7) or now
  local l = { def = def, key = KEYS[2 + i], s = number(8) or 0, q = number(9) or 0, p = number(10) or 0, w = {},
    r0 = number(1), t0 = number(4), hs = tonumber(held[2] or '0'), hq = tonumber(held[3] or '0') }
  if def.r then l.r = bucket(number(1), number(2), number(3), at, def.r) end
  if def.t then l.t = bucket(number(4), number(5), number(6), at, def.t) end
  l.a = math.max(at, now)
  for j, w in ipairs(def.w) do
    local f = 11 + (j - 1) * 6
    local c = { def = w, key = l.key .. '|' .. w.n, u = number(f + 1) or 0, v = number(f + 2) or 0, e = number(f + 3) or 0, o = number(f + 5),
      h = tonumber(held[3 + j] or '0'), new = not h[f + 4] }
    -- Its past is known if it was so for this cut, and it has been in force since.
    c.f = h[f + 6] == w.g and string.find(h[11] or '', ',' .. w.n .. ',', 1, true) ~= nil
    local _, stop = stepOf(w, now)
    if stop ~= c.e or h[f + 4] ~= w.g then
      c.u, c.o = 0, nil
      local steps = redis.call('HGETALL', c.key)
      for k = 1, #steps, 2 do
        local start, used = tonumber(steps[k]), tonumber(steps[k + 1])
        local gone = forgottenAt(w, start)
        -- Kept a while, for a clock that steps over the end of a period and back; what lies ahead does not count yet.
        if gone + 7200000 <= now then redis.call('HDEL', c.key, steps[k])
        elseif gone > now and start <= now then
          c.u = c.u + used
          if not c.o or start < c.o then c.o = start end
        end
      end
      c.e = stop
    end
    l.w[j] = c
  end
  levels[i] = l
end

local function addToStep(c, start, used)
  redis.call('HINCRBY', c.key, int(start), int(used))
  redis.call('PEXPIRE', c.key, ttl)
  if start > now then return end
  c.u = c.u + used
  if not c.o or start < c.o then c.o = start end
end

for i, l in ipairs(levels) do
  local d = dyn.L[i]
  if l.r then l.r = math.min(l.def.r[1], l.r + d.r) end
  if l.t then l.t = math.min(l.def.t[1], l.t + d.t) end
  l.s, l.hs = l.s + d.s - l.hs, d.s
  l.q, l.hq = l.q + d.q - l.hq, d.q
  for j, c in ipairs(l.w) do
    local dw = d.w[j]
    c.v, c.h = c.v + dw.h - c.h, dw.h
    if dw.f == 0 then c.f = false end
    -- What gateways remember counts only where nothing is known: a new server, or one that lost its data.
    for k = 1, c.new and #dw.b or 0, 2 do
      if forgottenAt(c.def, dw.b[k]) > now then addToStep(c, dw.b[k], dw.b[k + 1]) end
    end
    for k = 1, #dw.u, 3 do
      local start = stepOf(c.def, dw.u[k + 1])
      if dw.u[k + 2] > last and start and forgottenAt(c.def, start) > now then addToStep(c, start, dw.u[k]) end
    end
  end
end
local codes, full = {}, dyn.F == 1
`;
