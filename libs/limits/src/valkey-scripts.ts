/**
 * The scripts of the shared store, put together from parts. All keys that a script touches carry the tenant's hash tag:
 *
 * | key | what |
 * |---|---|
 * | `…{tenant}:gws` | gateway → until when it is taken for alive |
 * | `…{tenant}:a:<gateway>` | `n` the last exchange; `<level>|<field>` what the gateway holds of that field |
 * | `…{tenant}:c:<gateway id>` | level → which records of that gateway's outbox are in the counters; outlives the gateway's process. `!` the process that asked for it last, `!b` which of the gateway's lives that is: what an earlier one reports or asks late is refused |
 * | `…{tenant}:<level>` | `r`, `t` buckets with size and rate they were left with, `a` their time; `s`, `q` calls in flight and queued; per window `u` used, `v` reserved, `e` end of the step, `o` start of the oldest step, `g` its cut; `p` time of the last refusal |
 * | `…{tenant}:<level>|<window>` | start of a step → use in it |
 *
 * Numbers are doubles; they are written with 17 digits so that none is lost. Keys of dead gateways and steps are derived
 * and not declared: they have the same tag, so a cluster keeps them in the same place.
 */
const PRELUDE = `
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
  local names = { 'r', 'rc', 'rr', 't', 'tc', 'tr', 'a', 's', 'q', 'p' }
  local mine = { 'n', def.k .. '|s', def.k .. '|q' }
  for _, w in ipairs(def.w) do
    for _, field in ipairs({ 'u|', 'v|', 'e|', 'g|', 'o|' }) do names[#names + 1] = field .. w.n end
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
    local f = 10 + (j - 1) * 5
    local c = { def = w, key = l.key .. '|' .. w.n, u = number(f + 1) or 0, v = number(f + 2) or 0, e = number(f + 3) or 0, o = number(f + 5),
      h = tonumber(held[3 + j] or '0'), new = not h[f + 4] }
    if now >= c.e or h[f + 4] ~= w.g then
      c.u, c.o = 0, nil
      local steps = redis.call('HGETALL', c.key)
      for k = 1, #steps, 2 do
        local start, used = tonumber(steps[k]), tonumber(steps[k + 1])
        if forgottenAt(w, start) <= now then redis.call('HDEL', c.key, steps[k])
        else
          c.u = c.u + used
          if not c.o or start < c.o then c.o = start end
        end
      end
      local _, stop = stepOf(w, now)
      c.e = stop
    end
    l.w[j] = c
  end
  levels[i] = l
end

local function addToStep(c, start, used)
  redis.call('HINCRBY', c.key, int(start), int(used))
  redis.call('PEXPIRE', c.key, ttl)
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
    -- What gateways remember counts only where nothing is known: a new server, or one that lost its data.
    for k = 1, c.new and #dw.b or 0, 2 do
      if forgottenAt(c.def, dw.b[k]) > now then addToStep(c, dw.b[k], dw.b[k + 1]) end
    end
    for k = 1, #dw.u, 3 do
      local start = stepOf(c.def, now - dw.u[k + 1])
      if dw.u[k + 2] > last and start and forgottenAt(c.def, start) > now then addToStep(c, start, dw.u[k]) end
    end
  end
end
local codes, full = {}, dyn.F == 1
`;

/** Judges the requests in their order, each by quota, then bulkhead, then rate over all of its levels, and takes what was admitted. */
const JUDGE = `
local function units(w, i, o, c)
  if w.m == 0 then return i + o elseif w.m == 1 then return i elseif w.m == 2 then return o end
  return c
end
local function refuse(l, code)
  l.p = now
  return code
end
local function judge(kind, of, i, o, c)
  if kind <= 2 then
    for _, l in ipairs(of) do
      for _, w in ipairs(l.w) do
        if w.def.l >= 0 and (w.u >= w.def.l or w.u + w.v + units(w.def, i, o, c) > w.def.l) then
          full = true
          return refuse(l, 1)
        end
      end
    end
  end
  if kind == 1 then
    for _, l in ipairs(of) do
      if l.def.f >= 0 and l.s >= l.def.f then return refuse(l, 2) end
    end
  end
  if kind == 3 then
    for _, l in ipairs(of) do
      if l.def.q >= 0 and l.q >= l.def.q then return refuse(l, 4) end
    end
  end
  if kind == 1 or kind == 4 then
    for _, l in ipairs(of) do
      if l.r and l.r + l.def.r[2] * 0.001 < 1 then return refuse(l, 3) end
      if kind == 1 and i + o > 0 and l.t and l.t + l.def.t[2] * 0.001 < i + o then return refuse(l, 3) end
    end
  end
  for _, l in ipairs(of) do
    if kind <= 2 then
      for _, w in ipairs(l.w) do
        local n = units(w.def, i, o, c)
        w.v, w.h = w.v + n, w.h + n
      end
      if l.t then l.t = l.t - i - o end
    end
    if kind == 1 then l.s, l.hs = l.s + 1, l.hs + 1 end
    if kind == 3 then l.q, l.hq = l.q + 1, l.hq + 1 end
    if (kind == 1 or kind == 4) and l.r then l.r = l.r - 1 end
  end
  return 0
end
for n, request in ipairs(dyn.Q) do
  local of = {}
  for j, index in ipairs(request[2]) do of[j] = levels[index] end
  codes[n] = int(judge(request[1], of, request[3], request[4], request[5]))
end
`;

/** Lends what was asked for beyond need, but never from what is scarce, then writes everything and tells how it stands. */
const FINISH = `
local out = { str(now), int(known), int(gateways), int(#codes) }
for _, code in ipairs(codes) do out[#out + 1] = code end
local function lend(left, want)
  local most = math.floor(left / (2 * gateways))
  if most <= 0 or want <= 0 then return 0 end
  return math.min(most, want)
end
redis.call('HSET', KEYS[2], 'n', int(dyn.n))
redis.call('PEXPIRE', KEYS[2], ttl)
for i, l in ipairs(levels) do
  if dyn.C ~= '' then redis.call('HSET', settled, l.def.k, dyn.C) end
  local d, r, t, s = dyn.L[i], 0, 0, 0
  local scarce = now - l.p < 1000
  if not scarce then
    if l.r then
      r = lend(l.r, d.R)
      l.r = l.r - r
    end
    if l.t then
      t = lend(l.t, d.T)
      l.t = l.t - t
    end
    if l.def.f >= 0 then
      s = lend(l.def.f - l.s, d.S)
      l.s, l.hs = l.s + s, l.hs + s
    end
  end
  local fields = { 's', str(l.s), 'q', str(l.q), 'a', str(l.a), 'p', str(l.p) }
  local function put(field, value)
    fields[#fields + 1] = field
    fields[#fields + 1] = value
  end
  local function hold(field, value)
    if value == 0 then redis.call('HDEL', KEYS[2], l.def.k .. field) else redis.call('HSET', KEYS[2], l.def.k .. field, str(value)) end
  end
  hold('|s', l.hs)
  hold('|q', l.hq)
  if l.r then put('r', str(l.r)) put('rc', str(l.def.r[1])) put('rr', str(l.def.r[2])) end
  if l.t then put('t', str(l.t)) put('tc', str(l.def.t[1])) put('tr', str(l.def.t[2])) end
  out[#out + 1] = l.r and str(l.r) or '0'
  out[#out + 1] = l.t and str(l.t) or '0'
  out[#out + 1] = int(l.s)
  out[#out + 1] = int(l.q)
  out[#out + 1] = scarce and '1' or '0'
  out[#out + 1] = int(r)
  out[#out + 1] = int(t)
  out[#out + 1] = int(s)
  for j, c in ipairs(l.w) do
    local want, n = d.w[j].w, 0
    if want > 0 and c.def.l >= 0 and not scarce and c.def.l - c.u - c.v >= 50 * gateways * want then
      n = want
      c.v, c.h = c.v + n, c.h + n
    end
    put('u|' .. c.def.n, str(c.u)) put('v|' .. c.def.n, str(c.v)) put('e|' .. c.def.n, str(c.e)) put('g|' .. c.def.n, c.def.g)
    if c.o then put('o|' .. c.def.n, str(c.o)) else redis.call('HDEL', l.key, 'o|' .. c.def.n) end
    hold('|v|' .. c.def.n, c.h)
    out[#out + 1] = str(c.u)
    out[#out + 1] = str(c.v)
    out[#out + 1] = str(n)
    if full then
      local steps = redis.call('HGETALL', c.key)
      out[#out + 1] = int(#steps)
      for k = 1, #steps do out[#out + 1] = steps[k] end
    else
      out[#out + 1] = '-1'
    end
  end
  redis.call('HSET', l.key, unpack(fields))
  redis.call('PEXPIRE', l.key, ttl)
end
if dyn.C ~= '' then redis.call('PEXPIRE', settled, ttl) end
return table.concat(out, ' ')
`;

/** Takes in what a gateway reports, judges its waiting requests, lends to it. */
export const ADMIT_SCRIPT = PRELUDE + JUDGE + FINISH;

/** Takes in what a gateway reports (settlements, releases), lends to it. */
export const SETTLE_SCRIPT = PRELUDE + FINISH;

/**
 * For each level two strings: the gateway's last statement of what it had reported of it, and for each window named a `1`
 * where something was ever counted. From then on reports of the gateway's earlier processes are refused; so is the question
 * of an earlier one that was still on its way when that process was killed.
 */
export const COUNTED_SCRIPT = `
local base = string.match(KEYS[1], '^(.*})')
local life = tonumber(ARGV[#KEYS + 1])
local newest = tonumber(redis.call('HGET', KEYS[1], '!b') or '')
if newest and newest > life then return 'stale' end
redis.call('HSET', KEYS[1], '!', ARGV[1], '!b', ARGV[#KEYS + 1])
redis.call('PEXPIRE', KEYS[1], 3888000000)
local out = {}
for i = 2, #KEYS do
  out[#out + 1] = redis.call('HGET', KEYS[1], string.sub(KEYS[i], #base + 2)) or ''
  local known = ''
  for _, name in ipairs(cjson.decode(ARGV[i])) do
    known = known .. redis.call('HEXISTS', KEYS[i], 'g|' .. name)
  end
  out[#out + 1] = known
end
return out
`;

/** Keeps what a gateway holds of one tenant for another while; 0 when that was given up for dead. */
export const TOUCH_SCRIPT = `
local now = tonumber(ARGV[1])
if not now then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000 + tonumber(t[2]) / 1000
end
local over = redis.call('HGET', KEYS[1], ARGV[2])
if not over or tonumber(over) < now then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], string.format('%.17g', now + tonumber(ARGV[3])))
return 1
`;

/** Says that a gateway of the cell is alive and counts those that are. An `ARGV[3]` of 0 signs it off. */
export const REGISTER_SCRIPT = `
local now = tonumber(ARGV[1])
if not now then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000 + tonumber(t[2]) / 1000
end
if tonumber(ARGV[3]) > 0 then redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[2]) else redis.call('ZREM', KEYS[1], ARGV[2]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], 3888000000)
return redis.call('ZCARD', KEYS[1])
`;
