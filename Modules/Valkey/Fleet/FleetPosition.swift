#if SwiftOperationValkey
  internal import OperationCore

  /// The last generation that a process has seen of a fleet, and the highest number: an epoch, a token or a revision.
  ///
  /// Each call tells them to the server, so that no later generation has numbers that this process has seen before.
  final class FleetPosition: Sendable {
    private struct State: Sendable {
      var generation = ""
      var highest: Int64 = 0
    }

    private let state = Locked(State())

    var last: (generation: String, highest: Int64) { self.state.withLock { ($0.generation, $0.highest) } }

    /// Takes what an answer has told.
    ///
    /// - Parameters:
    ///   - generation: The generation of the answer.
    ///   - epoch: The epoch of the answer.
    ///   - number: A token or a revision of the answer; zero if it has none.
    func note(_ generation: String, epoch: Int64, number: Int64) {
      self.state.withLock { state in
        // Answers are taken in any order: one of an earlier generation has lower epochs.
        if generation != state.generation, epoch > state.highest { state.generation = generation }
        if generation == state.generation { state.highest = max(state.highest, epoch, number) }
      }
    }
  }
#endif
