#if SwiftOperationSQLite && os(Linux)
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import TestFixtures

  /// A server that does each key once, fails at random until it recovers, and whose answers may be lost.
  final class YearsServer: Sendable {
    struct Request: Sendable {
      let key: String
      let start: Int
      let tokens: [Int]
    }

    private struct State: Sendable {
      var random: SeededGenerator
      var isWell = false
      /// The start of the program that lives.
      var start = 0
      var versions: [Int: Int] = [:]
      var requests: [Request] = []
      var keys: Set<String> = []
      /// The keys by which each token was done.
      var done: [Int: Set<String>] = [:]
      /// What the start that lives knows to be done.
      var answered: Set<Int> = []
      /// What was sent again by a start that knows that it is done.
      var repetitions: [String] = []
      var problems: [String] = []
    }

    private let state: Locked<State>

    init(seed: UInt64) { self.state = Locked(State(random: SeededGenerator(seed: seed))) }

    var requests: [Request] { self.state.withLock { $0.requests } }
    var done: [Int: Set<String>] { self.state.withLock { $0.done } }
    var problems: [String] { self.state.withLock { $0.problems } }
    var repetitions: [String] { self.state.withLock { $0.repetitions } }

    func version(of note: Int) -> Int { self.state.withLock { $0.versions[note] ?? 0 } }

    /// Another device changes a note.
    func change(_ note: Int) { self.state.withLock { $0.versions[note, default: 0] += 1 } }

    func recover() { self.state.withLock { $0.isWell = true } }

    /// The program is killed, and another start of it begins.
    func begin(_ start: Int) {
      self.state.withLock { state in
        state.start = start
        state.answered = []
      }
    }

    func receive(_ call: YearsTokens, basedOn base: String?, key: String, from start: Int, isOnline: Bool) throws {
      try self.state.withLock { state in
        guard start == state.start, isOnline else { throw YearsAway() }
        state.requests.append(Request(key: key, start: start, tokens: call.tokens))
        if let twice = call.tokens.first(where: { state.answered.contains($0) }) {
          state.repetitions.append(
            "\(twice) was sent again with the key \(key) by the start that knows that it is done"
          )
        }
        let luck = state.isWell ? 9 : Int.random(in: 0..<10, using: &state.random)
        if luck == 0 { throw YearsAway() }
        if luck == 1 { throw Refused() }
        if state.keys.contains(key) {
          if !call.tokens.allSatisfy({ state.done[$0]?.contains(key) == true }) {
            state.problems.append("\(call.tokens) have the key \(key) of another request")
          }
        } else {
          let version = state.versions[call.note] ?? 0
          if let base, base != "\(version)" { throw YearsConflict(current: version) }
          if base != nil { state.versions[call.note] = version + 1 }
          state.keys.insert(key)
          for token in call.tokens { state.done[token, default: []].insert(key) }
        }
        // The answer is lost.
        if luck == 2 { throw YearsAway() }
        state.answered.formUnion(call.tokens)
      }
    }
  }

  /// The error of a call that is based on an older version of a note.
  struct YearsConflict: MutationConflict {
    let current: Int
  }

  /// A connection that has failed, which says nothing about the call.
  struct YearsAway: LocalRejection {}

  /// Sends tokens to the server.
  struct YearsCall<Arguments: YearsArguments>: MutationRequest {
    let server: YearsServer
    let network: SwitchSpecification
    let start: Int
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
        key: context.operationIdempotencyKey ?? "no key",
        from: self.start,
        isOnline: self.network.isSatisfied(in: context)
      )
    }
  }
#endif
