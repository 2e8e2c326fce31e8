#if SwiftOperationPostgreSQL
  internal import OperationCore

  /// What a fleet keeps at most in its tables.
  struct FleetBounds: Sendable {
    var maximumValues: Int64 = 1_000_000
    var maximumBytes: Int64 = 4_000_000_000
    var keptInvalidations: Int64 = 200_000
    var keptSeconds: Int64 = 86_400
    /// How long after a step that has left nothing the next one is due.
    var pause = Duration.seconds(10)
    /// How often the values are counted.
    var countingPause = Duration.seconds(60)

    /// The parameters of `fleet_clean_up`.
    var parameters: [QueryValue] {
      [
        .integer(self.pause.microseconds), .integer(self.countingPause.microseconds), .integer(self.maximumValues),
        .integer(self.maximumBytes), .integer(self.keptInvalidations), .integer(self.keptSeconds),
      ]
    }
  }

  /// Removes what a fleet does not need any more, in small steps beside the calls of its node.
  ///
  /// The cleaner of each process asks now and then, and the database lets one of them make a step. The first one asks as
  /// soon as the process writes, so that processes that do not live for long clean, too.
  final class FleetCleaner: Sendable {
    enum Step: Sendable {
      /// Another process cleans, or has done so a moment ago.
      case notDue
      case done
      /// There is more to remove.
      case hasMore
      case failed
    }

    private struct State: Sendable {
      var isStarted = false
      var isClosed = false
      var timer: OperationSubscription?
    }

    /// Between two steps of which the first has left something.
    private static let shortPause = Duration.milliseconds(100)

    private let pause: Duration
    private let deadlines: any DeadlineSource
    private let random: @Sendable () -> Double
    private let step: @Sendable () async -> Step
    private let state = Locked(State())

    /// - Parameters:
    ///   - pause: How long after a step that has left nothing the next one is made.
    ///   - deadlines: The source of deadlines.
    ///   - random: A number from zero to one, so that processes do not ask at the same moment.
    ///   - step: Makes a step if one is due.
    init(
      pause: Duration,
      deadlines: any DeadlineSource,
      random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
      step: @escaping @Sendable () async -> Step
    ) {
      self.pause = pause
      self.deadlines = deadlines
      self.random = random
      self.step = step
    }

    deinit {
      self.state.withLock { $0.timer }?.cancel()
    }

    /// Makes the first step, unless that was begun before.
    func start() {
      let isFirst = self.state.withLock { state in
        defer { state.isStarted = true }
        return !state.isStarted && !state.isClosed
      }
      if isFirst { self.makeStep() }
    }

    func close() {
      let timer = self.state.withLock { state in
        state.isClosed = true
        return state.timer.take()
      }
      timer?.cancel()
    }

    private func makeStep() {
      let step = self.step
      Task.detached { [weak self] in
        let result = await step()
        self?.schedule(after: result)
      }
    }

    private func schedule(after step: Step) {
      let timer = self.deadlines.schedule(after: self.delay(after: step)) { [weak self] in self?.makeStep() }
      let surplus = self.state.withLock { state -> OperationSubscription? in
        if state.isClosed { return timer }
        defer { state.timer = timer }
        return state.timer
      }
      surplus?.cancel()
    }

    private func delay(after step: Step) -> Duration {
      switch step {
      case .hasMore: Self.shortPause
      case .done: self.pause * (0.75 + self.random() / 2)
      // Others do it: it is enough to take their place when they have ended.
      case .notDue, .failed: self.pause * (2 + self.random() * 2)
      }
    }
  }
#endif
