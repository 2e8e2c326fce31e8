import FoundationEssentials
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Keeps values in memory, as an author outside of the package writes a level.
final class Shelf: ValueLevel {
  /// How it deviates from a level that keeps all rules.
  enum Variant: Equatable {
    case sound
    /// It leaves it to the store to ask the client about invalidations, as a level of one process may.
    case ignoresInvalidations
    case keepsUnconfirmed
    case returnsRemoved
  }

  /// A value belongs to a path and a name. Values of all versions are returned.
  private struct Place: Hashable {
    let path: OperationPath
    let name: String

    init(_ key: LevelKey) {
      self.path = key.path
      self.name = key.name
    }
  }

  private struct State {
    var values: [Place: LevelValue] = [:]
    var rights: [Place: (right: LevelRight, end: Gate)] = [:]
    var invalidations: [Invalidation] = []
  }

  private let variant: Variant
  private let gate: Gate?
  private let state = Mutex(State())
  /// What was put, by stores and runs, and what has become of rights.
  let log = Log<String>()
  private let (events, continuation) = AsyncStream<String>.makeStream()

  let name = "shelf"
  let reach: ValueReach

  /// The gate holds look-ups back once the value was read. Without one, the level has everything at hand.
  init(_ variant: Variant = .sound, reach: ValueReach = .process, gate: Gate? = nil) {
    self.variant = variant
    self.reach = reach
    self.gate = gate
  }

  /// The text of the value at a path; nil if there is none.
  func text(at path: OperationPath = KeptPost.path) -> String? {
    self.state.withLock { $0.values[Place(LevelKey(path: path, name: "post"))] }.map(Self.text)
  }

  private func note(_ event: String) {
    self.log.append(event)
    self.continuation.yield(event)
  }

  /// Waits until the log has an event. One waiter at a time.
  func logs(_ event: String) async {
    for await next in self.events where next == event { return }
  }

  /// Keeps a value as another process has left it.
  func fill(
    _ text: String,
    at path: OperationPath = KeptPost.path,
    version: Int = 1,
    date: Date,
    tags: [OperationPath] = []
  ) {
    let value = LevelValue(stamp: ValueStamp(.final), date: date, version: version, tags: tags) {
      [1] + Array(text.utf8)
    }
    self.state.withLock { $0.values[Place(LevelKey(path: path, name: "post"))] = value }
  }

  private static func text(of value: LevelValue) -> String {
    if value.stamp.kind == .none { return "nothing" }
    guard let bytes = try? value.bytes() else { return "what cannot be encoded" }
    return String(decoding: bytes.dropFirst(), as: UTF8.self)
  }
}

// MARK: - Looking up

extension Shelf {
  func valueAtHand(for key: LevelKey, _ demand: ValueDemand) -> LevelGlance {
    if self.gate != nil { return .unknown }
    return self.found(key, demand).map { .value($0) } ?? .none
  }

  nonisolated(nonsending) func lookUp(_ key: LevelKey, _ demand: ValueDemand) async throws -> LevelAnswer {
    while true {
      let found = self.found(key, demand)
      try await self.gate?.wait()
      if let found { return .value(found) }
      guard self.reach == .fleet else { return .none(nil) }
      try Task.checkCancellation()
      let end = Gate()
      let right = LevelRight(end)
      let other = self.state.withLock { state -> Gate? in
        if let other = state.rights[Place(key)] { return other.end }
        state.rights[Place(key)] = (right, end)
        return nil
      }
      if let other {
        self.note("wait")
        try await other.wait()
      } else if self.found(key, demand) != nil {
        // Put before the right was given.
        self.end(right)
      } else {
        self.note("right")
        return .none(right)
      }
    }
  }

  private func found(_ key: LevelKey, _ demand: ValueDemand) -> LevelValue? {
    let (value, invalidations) = self.state.withLock { ($0.values[Place(key)], $0.invalidations) }
    guard var value else { return nil }
    if invalidations.contains(where: { $0.concerns(value, for: key) }) { value.isInvalidated = true }
    return demand.isMet(by: value) ? value : nil
  }
}

// MARK: - Changing

extension Shelf {
  func put(_ value: LevelValue, for key: LevelKey, under right: LevelRight?) {
    guard value.stamp.mayLeaveStore || self.variant == .keepsUnconfirmed else { return }
    let former = self.state.withLock { state in
      let former = state.values[Place(key)]
      var kept = value
      kept.version = key.version
      state.values[Place(key)] = value.stamp.kind == .none ? nil : kept
      return former
    }
    value.afterwards {
      // Its memory is the user's.
      _ = former
      self.note("put \(Self.text(of: value))\(right == nil ? "" : " under a right")")
      if let right { self.end(right) }
    }
  }

  func giveUp(_ right: LevelRight) {
    self.note("give up")
    self.end(right)
  }

  private func end(_ right: LevelRight) {
    let ended = self.state.withLock { state -> Gate? in
      guard let (place, entry) = state.rights.first(where: { $0.value.right === right }) else { return nil }
      state.rights[place] = nil
      return entry.end
    }
    ended?.open()
    right.end()
  }

  nonisolated(nonsending) func remove(_ scope: LevelScope, era: ClientEra) async throws {
    if self.variant == .returnsRemoved { return }
    let former = self.state.withLock { state in
      let former = state.values
      state.values = former.filter { !scope.contains(LevelKey(path: $0.key.path, name: $0.key.name)) }
      return former
    }
    _ = consume former
  }

  func invalidate(_ invalidations: [Invalidation]) {
    if self.variant == .ignoresInvalidations { return }
    self.state.withLock { $0.invalidations += invalidations }
  }
}
