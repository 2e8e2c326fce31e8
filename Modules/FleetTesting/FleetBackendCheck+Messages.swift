internal import OperationCore
internal import OperationFleet
internal import OperationTesting

/// The checks of messages, of several tasks and connections, and of the end.
extension FleetBackendCheck {
  func checkMessages() async throws -> [String] {
    let heard = HeardMessages()
    let subscription = self.backend.messages { heard.add($0) }
    let key = self.key("posts/1")
    // No node waits for it.
    try await self.put(key, [1])
    let epoch = try await self.invalidate(self.subject("users"))
    guard try await self.hears(heard, "an invalidation", { $0.isInvalidation(upTo: epoch) }) else { return [] }
    var findings: [String] = []
    if heard.all.contains(where: { $0.key == key.text }) {
      findings.append("a value was announced, and no node waited for it. Announce only values of awaited leases.")
    }
    // A node waits for it.
    let (lease, seen) = try await self.lease(key, "a")
    _ = try await self.acquire(key, "b", knowing: .max)
    var answer = try await self.backend.store(
      FleetWrite(lease: lease, epoch: seen, bytes: [2], timeToLive: Self.hour)
    )
    guard case .stored(let revision) = answer else { return findings + ["a value was refused: \(answer). Store it."] }
    _ = try await self.hears(heard, "a value that a node waits for", { $0.isStored(key, revision) })
    // No node waits for the next one, but it asks to be announced.
    let other = self.key("posts/2")
    let (announced, epochOfOther) = try await self.lease(other, "a")
    answer = try await self.backend.store(
      FleetWrite(lease: announced, epoch: epochOfOther, bytes: [3], timeToLive: Self.hour, isAnnounced: true)
    )
    guard case .stored(let second) = answer else { return findings + ["a value was refused: \(answer). Store it."] }
    _ = try await self.hears(heard, "a value that is announced", { $0.isStored(other, second) })
    // A lease that ends without a value.
    let released = self.key("posts/3")
    let (awaited, _) = try await self.lease(released, "a")
    _ = try await self.acquire(released, "b")
    try await self.backend.releaseLease(awaited)
    _ = try await self.hears(heard, "the release of an awaited lease", { $0 == .released(key: released.text) })
    // A refused value ends its lease, too.
    let refused = self.key("posts/4")
    let (outdated, epochOfRefused) = try await self.lease(refused, "a")
    _ = try await self.acquire(refused, "b")
    try await self.invalidate(self.subject("posts/4"))
    _ = try await self.backend.store(
      FleetWrite(lease: outdated, epoch: epochOfRefused, bytes: [4], timeToLive: Self.hour)
    )
    _ = try await self.hears(heard, "the end of an awaited lease", { $0 == .released(key: refused.text) })
    subscription.cancel()
    return findings
  }

  /// Waits for a message. A limit that is exceeded breaks the rule.
  private func hears(
    _ heard: HeardMessages,
    _ what: String,
    _ isExpected: @escaping @Sendable (FleetMessage) -> Bool
  ) async throws -> Bool {
    try await self.report.waits("Call the handlers of `messages(_:)`.") {
      try await heard.wait(for: what, within: self.report.limit, isExpected)
    }
  }

  func checkConcurrency() async throws -> [String] {
    let key = self.key("posts/1")
    let granted = try await withThrowingTaskGroup(of: Bool.self) { group in
      for owner in 0..<16 {
        group.addTask {
          if case .granted = try await self.acquire(key, "\(owner)") { true } else { false }
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    if granted != 1 { return ["16 owners took a lease at once, and \(granted) got it. Decide in one step."] }
    // Each asks in another order: none may wait for one that waits for it.
    let keys = (0..<60).map { self.key("lists/\($0)") }
    let batches = try await withThrowingTaskGroup(of: Int.self) { group in
      for owner in 0..<8 {
        let requests = keys.indices.map { number in
          let key = keys[(owner % 2 == 0 ? number : keys.count - number + owner) % keys.count]
          return FleetLeaseRequest(key: key, owner: "\(owner)", duration: Self.hour)
        }
        group.addTask {
          try await self.backend.acquireLeases(requests).count { if case .granted = $0 { true } else { false } }
        }
      }
      return try await group.reduce(0, +)
    }
    if batches != keys.count {
      return ["8 owners took \(keys.count) leases at once, and \(batches) were granted. Grant each of them once."]
    }
    let epochs = try await withThrowingTaskGroup(of: FleetEpoch.self) { group in
      for number in 0..<16 { group.addTask { try await self.invalidate(self.subject("users/\(number)")) } }
      return try await group.reduce(into: Set<FleetEpoch>()) { $0.insert($1) }
    }
    if epochs.count != 16 {
      return ["16 invalidations came at once, and had \(epochs.count) epochs. Give each its own."]
    }
    return try await self.checkOrderOfEpochs()
  }

  /// Runs that see an epoch while others invalidate: whoever sees one sees all lower ones in effect.
  private func checkOrderOfEpochs() async throws -> [String] {
    let findings = try await withThrowingTaskGroup(of: String?.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for number in 0..<10 { try await self.invalidate(self.subject("w\(writer)/\(number)")) }
          return nil
        }
      }
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<10 {
            let seen = try await self.backend.lookUp([self.key("posts")]).epoch
            let before = FleetEpoch(rawValue: max(seen.rawValue - 5, 0))
            guard case .listed(let first, _) = try await self.backend.invalidations(since: before) else { continue }
            let epochs = Set(first.map(\.epoch).filter { $0 <= seen })
            guard case .listed(let later, _) = try await self.backend.invalidations(since: before) else { continue }
            let late = later.map(\.epoch).filter { $0 <= seen && !epochs.contains($0) }
            if let epoch = late.first {
              return "the epoch \(epoch) took effect after \(seen) was seen. Let epochs take effect in their order."
            }
          }
          return nil
        }
      }
      return try await group.reduce(into: [String]()) { if let finding = $1 { $0.append(finding) } }
    }
    return Array(findings.prefix(1))
  }

  func checkConnections() async throws -> [String] {
    guard let connect else { return [] }
    let other = try await connect(self.backend)
    let heard = HeardMessages()
    let subscription = other.messages { heard.add($0) }
    let key = self.key("posts/1")
    try await self.put(key, [5])
    var findings: [String] = []
    let found = try await self.value(key, at: other)?.bytes
    if found != [5] { findings.append("a value was stored, and another connection found none. Share it.") }
    let epoch = try await self.invalidate(self.subject("posts"))
    if try await self.value(key, at: other) != nil {
      findings.append("a value was invalidated, and is fresh for another connection. Share invalidations.")
    }
    _ = try await self.hears(heard, "an invalidation by another connection", { $0.isInvalidation(upTo: epoch) })
    _ = try await self.lease(key, "a")
    if case .granted = try await self.acquire(key, "b", at: other) {
      findings.append("a lease was held, and another connection got it. Share leases.")
    }
    subscription.cancel()
    await other.close()
    if try await self.backend.lookUp([key]).values.count != 1 {
      findings.append("another connection was closed, and the first does not answer. Keep connections apart.")
    }
    return findings
  }

  func checkClosing() async -> [String] {
    let key = self.key("posts/1")
    await self.backend.close()
    await self.backend.close()
    var calls: [String] = []
    func note(_ name: String, _ call: () async throws -> Void) async {
      do {
        try await call()
        calls.append("`\(name)`")
      } catch {}
    }
    let lease = FleetLease(key: key, owner: "a", token: 1)
    await note("lookUp(_:)") { _ = try await self.backend.lookUp([key]) }
    await note("acquireLease(_:)") { _ = try await self.acquire(key) }
    await note("store(_:)") {
      _ = try await self.backend.store(FleetWrite(lease: lease, epoch: .zero, bytes: [], timeToLive: Self.hour))
    }
    await note("renewLease(_:for:)") { _ = try await self.backend.renewLease(lease, for: Self.hour) }
    await note("releaseLease(_:)") { try await self.backend.releaseLease(lease) }
    await note("invalidate(_:by:)") { try await self.invalidate(FleetSubject("p")) }
    await note("invalidations(since:)") { _ = try await self.backend.invalidations(since: .zero) }
    if calls.isEmpty { return [] }
    return ["\(calls.joined(separator: ", ")) threw nothing after `close()`. Throw `FleetError.closed(_:)`."]
  }
}

/// The messages that a check has heard.
final class HeardMessages: Sendable {
  private struct Wait: Sendable {
    let isExpected: @Sendable (FleetMessage) -> Bool
    let end: AwaitedOutcome<Void>
  }

  private struct State: Sendable {
    var messages: [FleetMessage] = []
    var wait: Wait?
  }

  private let state = Locked(State())

  var all: [FleetMessage] { self.state.withLock { $0.messages } }

  func add(_ message: FleetMessage) {
    let wait = self.state.withLock { state in
      state.messages.append(message)
      return state.wait
    }
    if let wait, wait.isExpected(message) { wait.end.decide() }
  }

  /// Waits for a message, which may have been heard before. One check waits at a time.
  func wait(
    for what: String,
    within limit: Duration,
    _ isExpected: @escaping @Sendable (FleetMessage) -> Bool
  ) async throws {
    let end = AwaitedOutcome<Void>()
    let (messages, former) = self.state.withLock { state in
      defer { state.wait = Wait(isExpected: isExpected, end: end) }
      return (state.messages, state.wait)
    }
    _ = consume former  // Released after unlocking.
    if messages.contains(where: isExpected) { return }
    try await outcome(of: what, within: limit) { await end.value(cancelled: ()) }.get()
  }
}

extension FleetMessage {
  /// The text of the key that the message is about; nil for others.
  var key: String? {
    switch self {
    case .stored(let key, _), .released(let key): key
    case .invalidated, .missed: nil
    }
  }

  func isInvalidation(upTo epoch: FleetEpoch) -> Bool {
    if case .invalidated(let other) = self { other >= epoch } else { false }
  }

  func isStored(_ key: FleetKey, _ revision: Int64) -> Bool {
    if case .stored(key.text, let other) = self { other >= revision } else { false }
  }
}
