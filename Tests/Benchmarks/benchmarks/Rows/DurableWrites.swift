internal import OperationPersistence

extension Benchmark {
  /// The cost of a durable write of one, of several and of many callers, beside that of bare SQLite with the same
  /// settings, which writes as many entries in each transaction. None without the trait `SwiftOperationSQLite`.
  ///
  /// A task may not wait for a disk on its thread. So the bar is for bare SQLite on a queue of its own, which a task asks
  /// for one transaction after the other. Bare SQLite on the thread that asks is there as well.
  static let durableWrites = Benchmark(name: "durable writes") { harness in
    #if SwiftOperationSQLite
      let section = "a durable write"
      var rows: [Row] = []
      for callers in [1, 8, 64] {
        let times = try await DurableWrites(callers: callers, isShort: harness.isShort).times()
        let name = callers == 1 ? "1 caller" : "\(callers) callers"
        rows.append(.time(section, "\(name), bare SQLite", times.bare.median))
        rows.append(.time(section, "\(name), bare SQLite on a queue", times.queued.median))
        rows.append(.time(section, name, times.own.median))
        rows.append(.ratio(section, "\(name), over bare SQLite", times.overBare))
        rows.append(.ratio(section, "\(name), over bare SQLite on a queue", times.overQueued, bar: 1.3))
      }
      return rows
    #else
      return []
    #endif
  }
}

extension Row {
  static func ratio(_ section: String, _ name: String, _ ratio: Distribution, bar: Double? = nil) -> Row {
    var row = Row(section: section, name: name, value: ratio.median, unit: .times)
    row.spread = ratio
    row.bar = bar.map { Limit(.atMost, $0) }
    return row
  }
}

#if SwiftOperationSQLite
  /// Writes blocks of entries to a bare database and to a storage by turns, because the speed of a disk changes.
  private struct DurableWrites {
    struct Times {
      var bare: Distribution
      var queued: Distribution
      var own: Distribution
      /// The ratios of the storage to bare SQLite, of all turns.
      var overBare: Distribution
      var overQueued: Distribution
    }

    let callers: Int
    let isShort: Bool

    /// The entries of one block.
    private let size = 128
    private let value = [UInt8](repeating: 7, count: 200)

    func times() async throws -> Times {
      let (database, queued) = (try BareDatabase(), QueuedDatabase(try BareDatabase()))
      let place = try StoragePlace()
      var (bare, hopping, own): ([Double], [Double], [Double]) = ([], [], [])
      // A log that grows costs more than one that is written again from its beginning, as it is after some blocks.
      let unmeasured = self.isShort ? 1 : 8
      for block in 0..<unmeasured + (self.isShort ? 3 : 40) {
        let numbers = block * self.size..<(block + 1) * self.size
        let turn = [
          try await microseconds { try self.write(numbers, to: database) },
          try await microseconds { try await self.write(numbers, to: queued) },
          try await microseconds { try await self.write(numbers, to: place.storage) },
        ]
        if block < unmeasured { continue }
        bare.append(turn[0] / Double(self.size))
        hopping.append(turn[1] / Double(self.size))
        own.append(turn[2] / Double(self.size))
      }
      await place.close()
      return Times(
        bare: Distribution(of: bare),
        queued: Distribution(of: hopping),
        own: Distribution(of: own),
        overBare: Distribution(of: zip(own, bare).map { $0 / $1 }),
        overQueued: Distribution(of: zip(own, hopping).map { $0 / $1 })
      )
    }

    private func write(_ numbers: Range<Int>, to database: BareDatabase) throws {
      for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: self.callers) {
        try database.write(start..<start + self.callers, self.value)
      }
    }

    private func write(_ numbers: Range<Int>, to database: QueuedDatabase) async throws {
      for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: self.callers) {
        try await database.write(start..<start + self.callers, self.value)
      }
    }

    private func write(_ numbers: Range<Int>, to storage: any PersistentStorage) async throws {
      try await withThrowingTaskGroup { group in
        for caller in 0..<self.callers {
          group.addTask {
            for number in stride(from: numbers.lowerBound + caller, to: numbers.upperBound, by: self.callers) {
              try await storage.apply([.put(key: "entry/\(number)", value: self.value)])
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
#endif
