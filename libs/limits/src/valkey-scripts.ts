import { PRELUDE } from './valkey-prelude.ts';

/**
 * The scripts of the shared store, put together from parts. All keys that a script touches carry the tenant's hash
 * tag:
 *
 * | key | what |
 * |---|---|
 * | `…{tenant}:gws` | gateway → until when it is taken for alive |
 * | `…{tenant}:a:<gateway>` | `n` the last exchange; `<level>|<field>` what the gateway holds of that field |
 * | `…{tenant}:c:<gateway id>` | level → which records of that gateway's outbox are in the counters; outlives the gateway's process. `!` the process that asked for it last, `!b` which of the gateway's lives that is: what an earlier one reports or asks late is refused |
 * | `…{tenant}:cs` | the gateways that have such a key |
 * | `…{tenant}:<level>` | `r`, `t` buckets with size and rate they were left with, `a` their time; `s`, `q` calls in flight and queued; per window `u` used, `v` reserved, `e` end of the step, `o` start of the oldest step, `g` its cut, `f` the cut for which its past is known; `W` the windows in force; `p` time of the last refusal; `x` how often it was amended |
 * | `…{tenant}:<level>|<window>` | start of a step → use in it |
 *
 * Numbers are doubles; they are written with 17 digits so that none is lost. Keys of dead gateways and steps are
 * derived and not declared: they have the same tag, so a cluster keeps them in the same place.
 */

/**
 * Judges the requests in their order, each by quota, then bulkhead, then rate over all of its levels, and takes
 * what was admitted.
 */
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

/**
 * Lends what was asked for beyond need, but never from what is scarce, then writes everything and tells how it
 * stands.
 */
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
  local inForce = ','
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
    if want > 0 and c.f and c.def.l >= 0 and not scarce and c.def.l - c.u - c.v >= 50 * gateways * want then
      n = want
      c.v, c.h = c.v + n, c.h + n
    end
    put('u|' .. c.def.n, str(c.u)) put('v|' .. c.def.n, str(c.v)) put('e|' .. c.def.n, str(c.e)) put('g|' .. c.def.n, c.def.g)
    if c.o then put('o|' .. c.def.n, str(c.o)) else redis.call('HDEL', l.key, 'o|' .. c.def.n) end
    if c.f then put('f|' .. c.def.n, c.def.g) else redis.call('HDEL', l.key, 'f|' .. c.def.n) end
    inForce = inForce .. c.def.n .. ','
    hold('|v|' .. c.def.n, c.h)
    out[#out + 1] = str(c.u)
    out[#out + 1] = str(c.v)
    out[#out + 1] = str(n)
    out[#out + 1] = c.f and '1' or '0'
    if full then
      local steps = redis.call('HGETALL', c.key)
      out[#out + 1] = int(#steps)
      for k = 1, #steps do out[#out + 1] = steps[k] end
    else
      out[#out + 1] = '-1'
    end
  end
  put('W', inForce)
  redis.call('HSET', l.key, unpack(fields))
  redis.call('PEXPIRE', l.key, ttl)
end
if dyn.C ~= '' then
  redis.call('PEXPIRE', settled, ttl)
  redis.call('SADD', base .. 'cs', ARGV[6])
  redis.call('PEXPIRE', base .. 'cs', ttl)
end
return table.concat(out, ' ')
`;

/** Takes in what a gateway reports, judges its waiting requests, lends to it. */
export const ADMIT_SCRIPT = PRELUDE + JUDGE + FINISH;

/** Takes in what a gateway reports (settlements, releases), lends to it. */
export const SETTLE_SCRIPT = PRELUDE + FINISH;

/**
 * For each level two strings: the gateway's last statement of what it had reported of it, and for each window named
 * a `1` where something was ever counted. From then on reports of the gateway's earlier processes are refused; so
 * is the question of an earlier one that was still on its way when that process was killed.
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

/**
 * For each level, in one moment: how often it was amended, gateways and their statements in turn, and for each window
 * named its steps. Keys: the set of gateways, then the levels; arguments: the names of each level's windows.
 */
export const AUDIT_SCRIPT = `
local base = string.match(KEYS[1], '^(.*})') .. ':'
local gateways = redis.call('SMEMBERS', KEYS[1])
local out = {}
for i = 2, #KEYS do
  local statements, windows = {}, {}
  for _, gateway in ipairs(gateways) do
    local statement = redis.call('HGET', base .. 'c:' .. gateway, string.sub(KEYS[i], #base + 1))
    if statement then
      statements[#statements + 1] = gateway
      statements[#statements + 1] = statement
    end
  end
  for j, name in ipairs(cjson.decode(ARGV[i - 1])) do windows[j] = redis.call('HGETALL', KEYS[i] .. '|' .. name) end
  out[#out + 1] = { redis.call('HGET', KEYS[i], 'x') or '0', statements, windows }
end
return out
`;

/**
 * Adds to the steps of one level's windows what an audit found, unless it was amended since: 1, else 0. A window that is
 * cut otherwise by now is left out. Arguments: how often it was amended, and per window its name, cut, whether its past
 * is known, how many steps follow, and start and units of each.
 */
export const AMEND_SCRIPT = `
if (redis.call('HGET', KEYS[1], 'x') or '0') ~= ARGV[1] then return 0 end
local i = 2
while ARGV[i] do
  local name, cut, founded, count = ARGV[i], ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3])
  i = i + 4
  if redis.call('HGET', KEYS[1], 'g|' .. name) == cut then
    local steps = KEYS[1] .. '|' .. name
    for k = i, i + 2 * count - 2, 2 do
      if redis.call('HINCRBY', steps, ARGV[k], ARGV[k + 1]) == 0 then redis.call('HDEL', steps, ARGV[k]) end
    end
    redis.call('PEXPIRE', steps, 3888000000)
    redis.call('HSET', KEYS[1], 'e|' .. name, '0')
    if founded == '1' then redis.call('HSET', KEYS[1], 'f|' .. name, cut) end
  end
  i = i + 2 * count
end
redis.call('HINCRBY', KEYS[1], 'x', 1)
redis.call('PEXPIRE', KEYS[1], 3888000000)
return 1
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
