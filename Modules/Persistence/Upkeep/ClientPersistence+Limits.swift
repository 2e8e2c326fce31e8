internal import OperationCore

extension ClientPersistence {
  /// How much the values of the client's stores may take of each storage; nil, the default, for any number.
  ///
  /// ```swift
  /// client.persistence.limits = StorageLimits(maximumBytes: 50_000_000, maximumValueBytes: 1_000_000)
  /// ```
  ///
  /// Where values exceed them, those are removed that were not used for the longest time: neither written, nor read for a
  /// store. Stores keep the values that they show. When a value was read is written within a minute, together for many
  /// values, so that reading waits for no write. A value that is larger than a limit is not stored, and reported as
  /// ``OperationCore/OperationWarning/Code/valueNotStored``; what was stored before stays. Calls of a
  /// ``MutationJournal`` are never removed.
  ///
  /// Set it at the start of the program. The storage's values are looked through then, and every hour, because other
  /// processes may have stored some. Clients that share a storage share its limits: the last ones that were set hold.
  public var limits: StorageLimits? {
    get { self.currentLimits.withLock { $0 } }
    set {
      self.currentLimits.withLock { $0 = newValue }
      self.addWriterOfClient()
      guard let time = self.upkeepTime else { return }
      for writer in self.allWriters { writer.setLimits(newValue, time) }
    }
  }

  /// The time of the client; nil if it was released.
  var upkeepTime: StateUpkeep.Time? { self.client.map { $0.defaultContext.upkeepTime } }

  /// Waits until nothing is to be written or removed at once.
  package func settled() async {
    for writer in self.allWriters { await writer.settled() }
  }
}

extension OperationContext {
  var upkeepTime: StateUpkeep.Time { StateUpkeep.Time(clock: self.operationClock, deadlines: self.operationDeadlines) }
}
