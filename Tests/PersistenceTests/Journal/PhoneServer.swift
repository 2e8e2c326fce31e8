import OperationCore
import OperationMutation
import OperationPersistence
import TestFixtures

/// A server that does each key once, fails at random, and whose answers may be lost.
final class PhoneServer: Sendable {
  private struct State: Sendable {
    var random: SeededGenerator
    var isWell = false
    var keys: Set<String> = []
    var begun: Set<Int> = []
    var done: Set<Int> = []
    /// The tokens that a start of the program knows to be done.
    var answered: Set<Int> = []
    var generation = 0
    /// The version of each note, for calls that are based on one.
    var versions: [Int: Int] = [:]
    var problems: [String] = []
    var seen: Set<String> = []
  }

  private let state: Locked<State>

  init(seed: UInt64) {
    self.state = Locked(State(random: SeededGenerator(seed: seed)))
  }

  var seen: Set<String> { self.state.withLock { $0.seen } }
  var begun: Set<Int> { self.state.withLock { $0.begun } }
  var done: Set<Int> { self.state.withLock { $0.done } }
  var problems: [String] { self.state.withLock { $0.problems } }

  func version(of note: Int) -> Int { self.state.withLock { $0.versions[note] ?? 0 } }

  /// Another device changes a note.
  func change(_ note: Int) { self.state.withLock { $0.versions[note, default: 0] += 1 } }

  func recover() { self.state.withLock { $0.isWell = true } }

  func endGeneration(_ generation: Int) {
    self.state.withLock { state in
      state.generation = generation + 1
      state.answered = []
    }
  }

  func receive(_ call: Tokens, basedOn base: String?, key: String?, from generation: Int, isOnline: Bool) throws {
    let tokens = call.tokens
    try self.state.withLock { state in
      // A process that was killed sends nothing.
      guard generation == state.generation else { throw Away() }
      state.begun.formUnion(tokens)
      if tokens.count > 1 { state.seen.insert("merged") }
      if let twice = tokens.first(where: { state.answered.contains($0) }) {
        state.problems.append("The token \(twice) was sent again with the key \(key ?? "").")
      }
      guard isOnline else { throw Away() }
      let luck = state.isWell ? 9 : Int.random(in: 0..<10, using: &state.random)
      if luck == 0 { throw Away() }
      if luck == 1 { throw Refused() }
      if let key, state.keys.contains(key) {
        // The repeated call is done already.
        state.seen.insert("repeated")
      } else {
        let version = state.versions[call.note] ?? 0
        if let base, base != "\(version)" { throw PhoneConflict(current: version) }
        if base != nil { state.versions[call.note] = version + 1 }
        if let key { state.keys.insert(key) }
        state.done.formUnion(tokens)
      }
      // The answer is lost.
      if luck == 2 { throw Away() }
      state.answered.formUnion(tokens)
    }
  }
}

/// The error of a call that is based on an older version of a note.
struct PhoneConflict: MutationConflict {
  let current: Int
}

/// Sends tokens to the server.
struct PhoneCall<Arguments: PhoneArguments>: MutationRequest {
  let server: PhoneServer
  let network: NetworkSwitch
  let generation: Int
  let path: OperationPath

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try self.server.receive(
      arguments.sent,
      basedOn: context.operationBaseVersion,
      key: context.operationIdempotencyKey,
      from: self.generation,
      isOnline: self.network.isSatisfied(in: context)
    )
  }
}

/// A connection that has failed, which says nothing about the call.
struct Away: LocalRejection {}
