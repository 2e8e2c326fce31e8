#if SwiftOperationValkey
  /// A script of a fleet, which the server runs in one step: nothing happens between two of its commands.
  ///
  /// All scripts begin alike. Their first keys are those of the clock and of the names of nodes, and their first arguments
  /// the channel, what this process has seen, and the name for a new generation. All answers begin with the generation and
  /// the epoch.
  ///
  /// **Why nothing old is ever fresh.** All that decides on freshness is in *one* key, the sorted set of the clock: the
  /// epoch (`e`), the floor (`f`), the last token or revision (`n`), the epoch of the last invalidation of each subject (`s…`),
  /// and as the first member, with the score 0, the name of the generation and the replication ID of the server that has
  /// begun it. A server removes a key as a whole: when the clock is evicted, deleted or flushed, no part of it stays
  /// behind, and the next script begins a generation with a random name. Each value and each lease has the name of its
  /// generation, and counts for nothing in another one. So of what is left, in whatever order keys were lost:
  /// - without the clock, all values and all runs under way are of another generation: none is fresh, and none is stored;
  /// - without a value or a lease, there is a run more, and a late holder is refused, as its lease is not there;
  /// - without the names of nodes, a node takes its own invalidation for one of others, and invalidates once more.
  ///
  /// The clock has no time to live, so the policies `volatile-…` never evict it, and no script reads a key of a value
  /// without comparing it with the clock of the same moment.
  ///
  /// A server that has started again, from a file or as a replica that was promoted, may lack the last invalidations, and
  /// may have values that they concern. It has another replication ID than the clock then, which begins a generation, too.
  ///
  /// **Why epochs never go back.** A new generation begins with an epoch above all numbers that the clock had, if it is
  /// there, above all that the caller has seen, and above the microseconds since 1970, which no count of invalidations
  /// reaches. A process that has seen higher numbers of an earlier generation, as when the time was set back, begins
  /// another one in the same way. Numbers stay below 2⁵³, up to which those of Lua and of sorted sets are exact.
  struct FleetScript: Hashable, Sendable {
    let text: String

    private init(_ body: String) {
      self.text = Self.beginning + body
    }

    private static let beginning = """
      local clock, names, channel = KEYS[1], KEYS[2], ARGV[1]
      local info = redis.call('INFO', 'replication')
      if not string.find(info, 'role:master', 1, true) then
        return redis.error_reply('READONLY The server is a replica')
      end
      local lineage = string.match(info, 'master_replid:(%x+)')
      if not lineage then return redis.error_reply('ERR The server tells no master_replid') end
      local moment = redis.call('TIME')
      local now = moment[1] * 1000000 + moment[2]
      local function digits(value) return string.format('%.0f', value) end
      local generation, owner = string.match(redis.call('ZRANGE', clock, 0, 0)[1] or '', '^!(%S+) (%S+)$')
      local numbers = redis.call('ZMSCORE', clock, 'e', 'f', 'n')
      local epoch, floor, number = tonumber(numbers[1]), tonumber(numbers[2]), tonumber(numbers[3])
      local seen = tonumber(ARGV[3])
      local is_whole = owner == lineage and epoch and floor and number
      -- Another generation than the caller knows has to be above all that it has seen.
      local is_known = ARGV[2] == '' or ARGV[2] == generation
      if not is_whole or (not is_known and (floor <= seen or number < seen)) then
        epoch = math.max(now, seen, epoch or 0, number or 0) + 1
        floor, number, generation = epoch, epoch, ARGV[4]
        redis.call('UNLINK', clock, names)
        redis.call('ZADD', clock, 0, '!' .. generation .. ' ' .. lineage, digits(epoch), 'e', digits(floor), 'f',
          digits(number), 'n')
        redis.call('PUBLISH', channel, 'i' .. digits(epoch))
      end
      local function is_invalidated(subjects, since)
        if since < floor then return true end
        if #subjects == 0 then return false end
        for _, score in ipairs(redis.call('ZMSCORE', clock, unpack(subjects))) do
          if score and tonumber(score) > since then return true end
        end
        return false
      end
      -- The bytes, the revision, the epoch and the age of a fresh value.
      local function fresh(key)
        local stored = redis.call('GET', key)
        if not stored then return false end
        local of, since, revision, at, size, start = string.match(stored, '^(%S+) (%d+) (%d+) (%d+) (%d+) ()')
        if of ~= generation then return false end
        since = tonumber(since)
        if is_invalidated(cmsgpack.unpack(string.sub(stored, start, start + size - 1)), since) then return false end
        return {string.sub(stored, start + size), tonumber(revision), since, math.max(0, now - at)}
      end

      """

    /// Keys: those of the values.
    static let lookUp = FleetScript(
      """
      local answer = {generation, epoch}
      for place = 3, #KEYS do answer[place] = fresh(KEYS[place]) end
      return answer
      """
    )

    /// Keys: of the lease and of the value, for each request. Arguments: the owner, milliseconds, a known revision, for each.
    /// Answers for each 0 with a token, 1 with a value, or 2 with the holder and milliseconds.
    static let acquireLeases = FleetScript(
      """
      local function acquire(lease, key, owner, duration, known)
        local value = fresh(key)
        if value and value[2] > tonumber(known) then return {1, value} end
        local held = redis.call('HMGET', lease, 'owner', 'token')
        if held[1] and held[1] ~= owner then
          redis.call('HSET', lease, 'awaited', 1)
          return {2, held[1], math.max(1, redis.call('PTTL', lease))}
        end
        local token = tonumber(held[2])
        if not token then
          token = tonumber(redis.call('ZINCRBY', clock, 1, 'n'))
          redis.call('HSET', lease, 'owner', owner, 'token', digits(token))
        end
        redis.call('HSET', lease, 'generation', generation)
        redis.call('PEXPIRE', lease, duration)
        return {0, token}
      end
      local answer = {generation, epoch}
      for place = 3, #KEYS, 2 do
        local first = 5 + (place - 3) / 2 * 3
        answer[#answer + 1] = acquire(KEYS[place], KEYS[place + 1], ARGV[first], ARGV[first + 1], ARGV[first + 2])
      end
      return answer
      """
    )

    /// Keys: of the lease. Arguments: the owner, the token, milliseconds. Answers 1 if the lease is held.
    static let renewLease = FleetScript(
      """
      local held = redis.call('HMGET', KEYS[3], 'owner', 'token')
      if held[1] ~= ARGV[5] or held[2] ~= ARGV[6] then return {generation, epoch, 0} end
      redis.call('PEXPIRE', KEYS[3], ARGV[7])
      return {generation, epoch, 1}
      """
    )

    /// Keys: of the lease. Arguments: the owner, the token, the key for messages.
    static let releaseLease = FleetScript(
      """
      local held = redis.call('HMGET', KEYS[3], 'owner', 'token', 'awaited')
      if held[1] == ARGV[5] and held[2] == ARGV[6] then
        redis.call('DEL', KEYS[3])
        if held[3] then redis.call('PUBLISH', channel, 'r' .. ARGV[7]) end
      end
      return {generation, epoch}
      """
    )

    /// Keys: of the lease and of the value. Arguments: the owner, the token, the epoch of the run, milliseconds, whether it is
    /// announced, the key for messages, the bytes, and the subjects. Answers the revision, 0 if the lease is not held, or -1.
    static let store = FleetScript(
      """
      local held = redis.call('HMGET', KEYS[3], 'owner', 'token', 'awaited', 'generation')
      if held[1] ~= ARGV[5] or held[2] ~= ARGV[6] then return {generation, epoch, 0} end
      redis.call('DEL', KEYS[3])
      local subjects = {}
      for place = 12, #ARGV do subjects[place - 11] = 's' .. ARGV[place] end
      if held[4] ~= generation or is_invalidated(subjects, tonumber(ARGV[7])) then
        if held[3] then redis.call('PUBLISH', channel, 'r' .. ARGV[10]) end
        return {generation, epoch, -1}
      end
      local revision = tonumber(redis.call('ZINCRBY', clock, 1, 'n'))
      local packed = cmsgpack.pack(subjects)
      local head = generation .. ' ' .. ARGV[7] .. ' ' .. digits(revision) .. ' ' .. digits(now) .. ' ' .. #packed .. ' '
      if tonumber(ARGV[8]) > 0 then
        redis.call('SET', KEYS[4], head .. packed .. ARGV[11], 'PX', ARGV[8])
      else
        redis.call('DEL', KEYS[4])
      end
      if held[3] or ARGV[9] == '1' then redis.call('PUBLISH', channel, 's' .. digits(revision) .. ' ' .. ARGV[10]) end
      return {generation, epoch, revision}
      """
    )

    /// Arguments: the node, how many subjects are kept, and the subjects. Of too many, the oldest are forgotten: their last
    /// epoch becomes the floor.
    static let invalidate = FleetScript(
      """
      epoch = tonumber(redis.call('ZINCRBY', clock, 1, 'e'))
      local scores, nodes = {}, {}
      for place = 7, #ARGV do
        scores[#scores + 1] = digits(epoch)
        scores[#scores + 1] = 's' .. ARGV[place]
        nodes[#nodes + 1] = 's' .. ARGV[place]
        nodes[#nodes + 1] = ARGV[5]
      end
      redis.call('ZADD', clock, unpack(scores))
      redis.call('HSET', names, unpack(nodes))
      -- The generation, the epoch, the floor and the number are no subjects.
      local surplus = redis.call('ZCARD', clock) - 4 - tonumber(ARGV[6])
      if surplus > 0 then
        local old = redis.call('ZRANGE', clock, 1, math.min(surplus, 1000), 'WITHSCORES')
        local forgotten = {}
        for place = 1, #old, 2 do
          if string.sub(old[place], 1, 1) == 's' then
            forgotten[#forgotten + 1] = old[place]
            floor = math.max(floor, tonumber(old[place + 1]))
          end
        end
        if #forgotten > 0 then
          redis.call('ZREM', clock, unpack(forgotten))
          redis.call('HDEL', names, unpack(forgotten))
          redis.call('ZADD', clock, digits(floor), 'f')
        end
      end
      redis.call('PUBLISH', channel, 'i' .. digits(epoch))
      return {generation, epoch}
      """
    )

    /// Arguments: the epoch that the caller knows, and how many subjects are listed. Answers 1 for all subjects, or 0 with
    /// each subject, its epoch and its node.
    static let invalidations = FleetScript(
      """
      local since, limit = tonumber(ARGV[5]), tonumber(ARGV[6])
      if since < floor or since > epoch then return {generation, epoch, 1} end
      local answer = {generation, epoch, 0}
      if since == epoch then return answer end
      local found = redis.call('ZRANGE', clock, '(' .. ARGV[5], '+inf', 'BYSCORE', 'LIMIT', 0, limit + 4, 'WITHSCORES')
      local subjects = {}
      for place = 1, #found, 2 do
        if string.sub(found[place], 1, 1) == 's' then
          subjects[#subjects + 1] = found[place]
          answer[#answer + 1] = string.sub(found[place], 2)
          answer[#answer + 1] = tonumber(found[place + 1])
          answer[#answer + 1] = ''
        end
      end
      if #subjects > limit then return {generation, epoch, 1} end
      for first = 1, #subjects, 1000 do
        local last = math.min(first + 999, #subjects)
        local nodes = redis.call('HMGET', names, unpack(subjects, first, last))
        for place = first, last do answer[3 + 3 * place] = nodes[place - first + 1] or '' end
      end
      return answer
      """
    )

    static let all = [lookUp, acquireLeases, renewLease, releaseLease, store, invalidate, invalidations]
  }
#endif
