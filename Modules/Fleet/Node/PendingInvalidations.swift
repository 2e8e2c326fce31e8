internal import OperationCore

/// The invalidations that a node is still to send, each subject once; bounded.
struct PendingInvalidations: Sendable {
  private struct Wait: Sendable {
    let number: UInt64
    let outcome: AwaitedOutcome<Bool>
  }

  /// Those that are not being sent.
  private var subjects: [FleetSubject] = []
  private var known: Set<FleetSubject> = []
  /// Those that are being sent. One that is invalidated again meanwhile is sent again.
  private var sending: [FleetSubject]?
  /// The number of the last invalidation that was added.
  private var lastNumber: UInt64 = 0
  /// The number up to which all are sent when those that are being sent are.
  private var sendingNumber: UInt64 = 0
  /// The number up to which all were sent.
  private var sentNumber: UInt64 = 0
  private var waits: [Wait] = []

  var isEmpty: Bool { self.sentNumber == self.lastNumber }

  /// How many wait until they are sent.
  var waitCount: Int { self.waits.count }

  /// Adds subjects. More than the maximum are replaced by everything.
  mutating func add(_ subjects: [FleetSubject], maximum: Int) {
    self.lastNumber += 1
    self.insert(subjects)
    if self.subjects.count > maximum {
      self.subjects = [FleetNames.everything]
      self.known = [FleetNames.everything]
    }
  }

  private mutating func insert(_ subjects: [FleetSubject]) {
    for subject in subjects where self.known.insert(subject).inserted { self.subjects.append(subject) }
  }

  /// The next subjects to send; nil if there are none, or others are being sent.
  mutating func beginSending() -> [FleetSubject]? {
    if self.sending != nil || self.subjects.isEmpty { return nil }
    let batch = Array(self.subjects.prefix(FleetLimits.batch))
    self.subjects.removeFirst(batch.count)
    self.known.subtract(batch)
    self.sending = batch
    self.sendingNumber = self.subjects.isEmpty ? self.lastNumber : self.sentNumber
    return batch
  }

  /// Ends the sending.
  ///
  /// - Parameters:
  ///   - isSent: Whether they were sent; false keeps them.
  ///   - maximum: The largest number to keep.
  /// - Returns: Those who have waited for it.
  mutating func endSending(isSent: Bool, maximum: Int) -> [AwaitedOutcome<Bool>] {
    let batch = self.sending ?? []
    self.sending = nil
    guard isSent else {
      self.insert(batch)
      if self.subjects.count > maximum {
        self.subjects = [FleetNames.everything]
        self.known = [FleetNames.everything]
      }
      return self.takeWaits()
    }
    self.sentNumber = max(self.sentNumber, self.sendingNumber)
    let done = self.waits.filter { $0.number <= self.sentNumber }
    self.waits.removeAll { $0.number <= self.sentNumber }
    return done.map(\.outcome)
  }

  /// Waits until all invalidations until now were sent. Returns nil if they were.
  mutating func waitForAll() -> AwaitedOutcome<Bool>? {
    if self.isEmpty { return nil }
    let outcome = AwaitedOutcome<Bool>()
    self.waits.append(Wait(number: self.lastNumber, outcome: outcome))
    return outcome
  }

  /// Ends all waits, whose outcomes the caller decides.
  mutating func takeWaits() -> [AwaitedOutcome<Bool>] {
    defer { self.waits = [] }
    return self.waits.map(\.outcome)
  }

  mutating func forget(_ outcome: AwaitedOutcome<Bool>) {
    self.waits.removeAll { $0.outcome === outcome }
  }

  mutating func removeAll() -> [AwaitedOutcome<Bool>] {
    self.subjects = []
    self.known = []
    self.sentNumber = self.lastNumber
    self.sendingNumber = self.lastNumber
    return self.takeWaits()
  }
}
