import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import Synchronization
import TestFixtures

/// Journals of several processes over one storage, on manual time and on one thread. The same seed gives the same schedule.
///
/// Every step of a storage, and every answer of the server, waits for the schedule.
final class SharedJournals: Sendable {
  /// A step that waits for the schedule.
  struct Step: Sendable {
    let number: Int
    let process: Int
    let isAnswer: Bool
    let continuation: UnsafeContinuation<Bool, Never>
  }

  struct State: Sendable {
    var random: SeededGenerator
    var steps: [Step] = []
    var lastStep = 0
    var dead: Set<Int> = []
    var suspended: Set<Int> = []
    /// The processes that begin: their storages do not wait for the schedule.
    var ungated: Set<Int> = []
    /// The names of the processes' journals in the storage.
    var owners: [Int: String] = [:]
    var leases: [String: (owner: String, end: Duration)] = [:]
    /// The tokens of the entries, by their keys in the storage.
    var tokens: [String: Int] = [:]
    var accepted: Set<Int> = []
    /// The calls with entries that were removed from the storage.
    var removed: Set<Int> = []
    /// The calls with entries that were removed by a process that had the lease.
    var ended: Set<Int> = []
    var arrived: [Int] = []
    /// The calls with entries in the storage.
    var stored: Set<Int> = []
    /// The processes that remove all calls, the calls that they have removed, and those that have to be gone for good.
    var signingOut: Set<Int> = []
    var discarded: Set<Int> = []
    var signedOut: Set<Int> = []
    /// The steps that other processes had made when one had removed all calls, and whose answers they did not have yet: they may
    /// begin to send a removed call.
    var late: [Int: Set<Int>] = [:]
    var lastToken = 0
    var callers: [Int: Caller] = [:]
    var open: [(token: Int, process: Int)] = []
    var problems: [String] = []
    var seen: Set<String> = []
  }

  /// Who has made a call, and in which scope.
  struct Caller: Hashable, Sendable {
    let process: Int
    let scope: String?
  }

  let clock = EventClock()
  let executor = SteppedExecutor()
  let base: InMemoryStorage
  /// Whether a batch can reach the storage after the lease of its sender has ended.
  ///
  /// The sender's decision may then be stored although another process has made the call. Such a call is repeated.
  let writesLate: Bool
  private let state: Mutex<State>

  init(seed: UInt64, writesLate: Bool) {
    let clock = self.clock
    self.base = InMemoryStorage(elapsed: { clock.elapsed })
    self.writesLate = writesLate
    self.state = Mutex(State(random: SeededGenerator(seed: seed)))
  }

  func change<R: Sendable>(_ body: (inout State) -> R) -> R { self.state.withLock { body(&$0) } }

  func random(_ count: Int) -> Int { self.change { Int($0.random.next() % UInt64(count)) } }

  /// Advances the time, and performs everything that does not wait for the schedule.
  func advance(by duration: Duration = .zero) {
    let end = self.clock.elapsed + duration
    self.executor.runAll()
    while self.clock.advance(upTo: end) { self.executor.runAll() }
    self.executor.runAll()
  }

  // MARK: - Steps

  /// Waits for the schedule. Returns whether the process lives.
  nonisolated(nonsending) func pass(_ process: Int, isAnswer: Bool = false) async -> Bool {
    let waits = self.change { state in
      // Some steps take no time.
      !state.dead.contains(process) && (isAnswer || !state.ungated.contains(process) && state.random.next() % 3 != 0)
    }
    if waits {
      _ = await withUnsafeContinuation { continuation in
        self.change { state in
          state.lastStep += 1
          let step = Step(number: state.lastStep, process: process, isAnswer: isAnswer, continuation: continuation)
          state.steps.append(step)
        }
      }
    }
    return self.change { !$0.dead.contains(process) }
  }

  /// Performs one step of a process that is not suspended. Returns false if there is none.
  func performStep() -> Bool {
    let step = self.change { state -> Step? in
      let waiting = Set(state.steps.map(\.number))
      state.late = state.late.filter { !$0.value.isDisjoint(with: waiting) }
      let ready = state.steps.indices.filter { !state.suspended.contains(state.steps[$0].process) }
      if ready.isEmpty { return nil }
      return state.steps.remove(at: ready[Int(state.random.next() % UInt64(ready.count))])
    }
    step?.continuation.resume(returning: true)
    self.executor.runAll()
    return step != nil
  }

  func kill(_ process: Int) {
    let steps = self.change { state -> [Step] in
      state.dead.insert(process)
      state.suspended.remove(process)
      state.open.removeAll { $0.process == process }
      defer { state.steps.removeAll { $0.process == process } }
      return state.steps.filter { $0.process == process }
    }
    for step in steps { step.continuation.resume(returning: false) }
    self.executor.runAll()
  }

  // MARK: - Signing out

  /// Notes that a process begins to remove all calls.
  ///
  /// - Returns: The calls that are stored; nil if the process is removing all calls already.
  func beginSigningOut(_ process: Int) -> Set<Int>? {
    self.change { state in state.signingOut.insert(process).inserted ? state.stored : nil }
  }

  /// Notes that a process has removed all calls, or has failed to.
  func endSigningOut(_ process: Int, of calls: Set<Int>, isComplete: Bool) {
    self.change { state in
      guard !state.dead.contains(process) else { return }
      state.signingOut.remove(process)
      guard isComplete else { return state.problems.append("\(process) has not removed all calls") }
      state.seen.insert("signed out")
      let left = calls.intersection(state.stored)
      if !left.isEmpty { state.problems.append("\(process) has left the calls \(left.sorted())") }
      state.signedOut.formUnion(calls)
      for step in state.steps where step.process != process && !step.isAnswer {
        state.late[step.process, default: []].insert(step.number)
      }
    }
  }

  // MARK: - The server

  /// Receives a call, and answers when the schedule says so.
  nonisolated(nonsending) func receive(_ token: Int, from process: Int) async throws {
    let now = self.clock.elapsed
    let isAlive = self.change { state -> Bool in
      if state.dead.contains(process) { return false }
      state.begin(token, process, at: now, writesLate: self.writesLate)
      return true
    }
    guard isAlive, await self.pass(process, isAnswer: true) else { throw Away() }
    let isDone = self.change { state -> Bool in
      if let index = state.open.firstIndex(where: { $0 == (token, process) }) { state.open.remove(at: index) }
      return state.random.next() % 4 != 0
    }
    if !isDone { throw Refused() }
  }
}

extension SharedJournals.State {
  /// Whether a process has the right to make a call.
  private func holdsLease(_ process: Int, of caller: SharedJournals.Caller, at now: Duration) -> Bool {
    let name = caller.scope.map { "journal:s\($0)/" } ?? "journal/\(self.owners[caller.process] ?? "")"
    guard let lease = self.leases[name] else { return false }
    return lease.owner == self.owners[process] && lease.end > now
  }

  /// Notes that an entry was removed. A process that comes back may remove a call that another process is making.
  fileprivate mutating func end(_ token: Int, _ process: Int, at now: Duration) {
    self.removed.insert(token)
    if let caller = self.callers[token], self.holdsLease(process, of: caller, at: now) { self.ended.insert(token) }
  }

  /// Receives a request, and checks the rules for requests.
  fileprivate mutating func begin(_ token: Int, _ process: Int, at now: Duration, writesLate: Bool) {
    guard let caller = self.callers[token] else { return self.problems.append("an unknown call \(token)") }
    if !self.holdsLease(process, of: caller, at: now) {
      self.problems.append("\(process) sent \(token) without the lease")
    }
    // What a process is removing itself, it may still send for a caller.
    if self.signedOut.contains(token), self.late[process] == nil, !self.signingOut.contains(process) {
      self.problems.append("\(process) sent \(token) after its user had signed out")
    }
    if !writesLate, self.ended.contains(token) {
      self.problems.append("\(process) sent \(token) again after its entry was removed")
    }
    if let other = self.open.first(where: { $0.token == token }) {
      self.seen.insert("taken over from \(other.process == process ? "itself" : "a process that lives")")
    }
    if process != caller.process { self.seen.insert("made by another process") }
    if self.open.contains(where: { $0.process != process && self.callers[$0.token]?.scope != caller.scope }) {
      self.seen.insert("two processes at once")
    }
    self.open.append((token, process))
    if self.arrived.contains(token) {
      self.seen.insert("repeated")
      return
    }
    // The calls of one caller in a scope arrive in the order of the caller.
    if caller.scope != nil, let later = self.arrived.first(where: { $0 > token && self.callers[$0] == caller }) {
      self.problems.append("\(process) sent \(token) after \(later)")
    }
    self.arrived.append(token)
  }
}

/// The storage as one process sees it.
final class SteppedStorage: LeasingStorage {
  private struct Entry: Decodable {
    let owner: String?
    let arguments: String
  }

  private let journals: SharedJournals
  private let process: Int

  init(_ journals: SharedJournals, _ process: Int) {
    self.journals = journals
    self.process = process
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    guard await self.journals.pass(self.process) else { return [] }
    let entries = try await self.journals.base.entries(withPrefix: prefix)
    return await self.journals.pass(self.process) ? entries : []
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    if self.journals.writesLate { _ = await self.journals.pass(self.process) }
    guard self.journals.change({ !$0.dead.contains(self.process) }) else { return .made }
    let outcome = try await self.journals.base.apply(batch, if: conditions)
    guard outcome == .made else {
      self.journals.change { _ = $0.seen.insert("refused") }
      _ = await self.journals.pass(self.process)
      return outcome
    }
    self.journals.change { state in
      for change in batch {
        switch change {
        case .put(let key, let value):
          guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(value)), let token = Int(entry.arguments)
          else { continue }
          state.tokens[key] = token
          state.accepted.insert(token)
          state.stored.insert(token)
          if state.signedOut.contains(token) {
            state.problems.append("\(self.process) stored \(token) after its user had signed out")
          }
          if state.ended.contains(token), !self.journals.writesLate {
            state.problems.append("\(self.process) stored \(token) again after its entry was removed")
          }
        case .remove(let key):
          guard let token = state.tokens[key] else { continue }
          state.stored.remove(token)
          if state.signingOut.contains(self.process) {
            state.discarded.insert(token)
            state.removed.insert(token)
          } else {
            state.end(token, self.process, at: self.journals.clock.elapsed)
          }
        }
      }
    }
    _ = await self.journals.pass(self.process)
    return outcome
  }

  nonisolated(nonsending) func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease {
    let refusal = StorageLease.heldByAnother(remaining: .seconds(60))
    guard await self.journals.pass(self.process) else { return refusal }
    let lease = try await self.journals.base.acquireLease(name, owner: owner, for: duration)
    let end = self.journals.clock.elapsed + duration
    self.journals.change { state in
      state.owners[self.process] = owner
      if lease == .held { state.leases[name] = (owner, end) }
    }
    return await self.journals.pass(self.process) ? lease : refusal
  }

  nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws {
    guard await self.journals.pass(self.process) else { return }
    try await self.journals.base.releaseLease(name, owner: owner)
    self.journals.change { if $0.leases[name]?.owner == owner { $0.leases[name] = nil } }
    _ = await self.journals.pass(self.process)
  }

  nonisolated(nonsending) func close() async {}
}

/// Sends the number of a call to the server of the schedule.
struct SteppedSend: MutationRequest {
  let journals: SharedJournals
  let process: Int
  let path: OperationPath

  func mutate(
    isolation: isolated (any Actor)?,
    with token: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try await self.journals.receive(token, from: self.process)
  }
}
