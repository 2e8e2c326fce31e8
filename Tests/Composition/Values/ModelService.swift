import Operation
import OperationFleet
import OperationPersistence
import Synchronization
import TestFixtures

/// A value that says how it was made, and so which of the rules of values it may break.
struct Reading: Codable, Hashable, Identifiable, Sendable {
  let item: Int
  /// The node whose body has made it, or whose user has set it.
  let node: Int
  /// When the service was read, in the order in which everything happens.
  let time: Int
  /// The user for whom it was read.
  let user: Int
  /// Whether the body goes on after it.
  var isDraft = false
  var isFallback = false
  /// The edits that are shown in it.
  var edits: [Int] = []
  /// What a derived value was made of.
  var sources: [Reading] = []
}

extension Reading {
  /// The pages of a list are readings of one entity.
  var id: Int { self.item }

  /// The value and all that it was made of.
  var parts: [Reading] { [self] + self.sources.flatMap(\.parts) }
}

/// How an item of the model is read, which differs by the seed.
struct ModelItem: Sendable {
  let number: Int
  /// The items that it is derived from; none for one that the service has.
  var sources: [Int] = []
  /// Whether it is a list of pages, each of which is a reading.
  var isList = false
  var isPersisted = false
  var isShared = false
  /// Whether it is shared in the fleet as in a level that its modifier names.
  var isKeptInFleet = false
  /// Whether a derived item is shared inside of `.derived()`.
  var isSharedInside = false
  var isTagged = false
  var yieldsFirst = false
  var hasFallback = false
  var servesStale = false
  var isHydratable = false
  var isPolled = false
  /// Whether it, or each page of the list, is an entity.
  var hasEntities = false
  var cachesFailures = false
  /// Whether its result says how long it is fresh.
  var saysTime = false
  /// Whether derived items select what they read of it.
  var isSelected = false
  /// Whether its store is dropped soon after its last subscriber has left.
  var isDropped = false

  /// What it is, for a failure.
  var text: String {
    let properties = [
      (self.isList, "list"), (self.isPersisted, "persisted"), (self.isShared, "shared"),
      (self.isKeptInFleet, "kept in the fleet"), (self.isTagged, "tagged"),
      (self.yieldsFirst, "yields"), (self.hasFallback, "fallback"), (self.servesStale, "serves stale"),
      (self.isHydratable, "hydratable"), (self.isPolled, "polled"), (self.isDropped, "dropped"),
      (self.hasEntities, "entities"), (self.cachesFailures, "caches failures"), (self.saysTime, "says its time"),
      (self.isSelected, "selected"),
    ]
    let texts = self.sources.isEmpty ? [] : ["of \(self.sources)"]
    return "\(self.number) " + (texts + properties.filter(\.0).map(\.1)).joined(separator: " ")
  }

  /// The two groups of paths and tags.
  var group: Int { self.number % 2 }

  var path: OperationPath {
    if self.isList { return ["items", self.group, "list"] }
    return self.sources.isEmpty ? ["items", self.group, self.number] : ["sums", self.number]
  }
}

/// What the bodies of all nodes read, and the real order of everything.
final class ModelService: Sendable {
  private struct State {
    var time = 0
    /// The items whose bodies fail.
    var failing: Set<Int> = []
    var edits: [Edit] = []
    /// The edits that the service has accepted.
    var confirmed: Set<Int> = []
    var runs = 0
    /// When the user of a node has last signed out.
    var signedOut: [Int: Int] = [:]
    /// What was sent and should not have been.
    var leak: String?
  }

  private struct Edit {
    let node: Int
    let time: Int
  }

  private let state = Mutex(State())

  /// The number of what happens now.
  func tick() -> Int {
    self.state.withLock { state in
      state.time += 1
      return state.time
    }
  }

  /// How many bodies have begun.
  var runs: Int { self.state.withLock { $0.runs } }

  func beginRun() -> Int {
    self.state.withLock { $0.runs += 1 }
    return self.tick()
  }

  func isFailing(_ item: Int) -> Bool { self.state.withLock { $0.failing.contains(item) } }

  func setFailing(_ items: Set<Int>) { self.state.withLock { $0.failing = items } }

  func toggleFailing(_ item: Int) {
    self.state.withLock { state in
      if state.failing.remove(item) == nil { state.failing.insert(item) }
    }
  }

  /// The number of a new edit of a node.
  func newEdit(on node: Int) -> Int {
    let time = self.tick()
    return self.state.withLock { state in
      state.edits.append(Edit(node: node, time: time))
      return state.edits.count - 1
    }
  }

  /// The node that has made an edit.
  func editor(of edit: Int) -> Int { self.state.withLock { $0.edits[edit].node } }

  /// The user of a node has signed out: what was made before must not be sent any more.
  func noteSigningOut(of node: Int, at time: Int) { self.state.withLock { $0.signedOut[node] = time } }

  /// A node begins to send an edit.
  func beginSending(_ edit: Int, by node: Int) {
    self.state.withLock { state in
      let made = state.edits[edit]
      guard let end = state.signedOut[made.node], made.time < end else { return }
      state.leak = "\(node) sends the edit \(edit) of \(made.node), whose user has signed out at \(end)"
    }
  }

  /// An edit of a former user that was sent.
  var leak: String? { self.state.withLock { $0.leak } }

  func confirm(_ edit: Int) { self.state.withLock { _ = $0.confirmed.insert(edit) } }

  func isConfirmed(_ edit: Int) -> Bool { self.state.withLock { $0.confirmed.contains(edit) } }
}

/// A query of any type, so that modifiers can be applied by the seed.
struct ReadingQuery: QueryRequest {
  private let base: any QueryRequest<Reading, any Error> & Sendable

  init(_ base: some QueryRequest<Reading, any Error> & Sendable) {
    self.base = base
  }

  var path: OperationPath { self.base.path }

  func setup(context: inout OperationContext) { self.base.setup(context: &context) }

  func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    self.base.isSameRun(in: context, as: other)
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Reading, any Error>
  ) async throws -> Reading {
    try await self.base.run(isolation: isolation, in: context, with: continuation)
  }
}
