internal import Synchronization

/// Repeats some work, and starts and stops the watch around the part that counts.
struct Measure: Sendable {
  typealias Chunk = @Sendable (_ count: Int, _ stopwatch: inout Stopwatch) async throws -> Void

  /// The number of repetitions in a chunk; nil if the harness finds it out.
  let count: Int?
  let chunk: Chunk

  init(count: Int? = nil, _ chunk: @escaping Chunk) {
    self.count = count
    self.chunk = chunk
  }
}

extension Measure {
  /// Work that is awaited, as the baseline is.
  static func awaiting(_ body: @escaping @Sendable () async -> Void) -> Measure {
    Measure { count, stopwatch in
      stopwatch.start()
      for _ in 0..<count { await body() }
      stopwatch.stop()
    }
  }

  /// Work that is called. The closure repeats it `times` times, so that the call of the closure counts less.
  static func calling(times: Int = 1, _ body: @escaping @Sendable () throws -> Void) -> Measure {
    Measure { count, stopwatch in
      let calls = (count + times - 1) / times
      stopwatch.start()
      for _ in 0..<calls { try body() }
      stopwatch.stop()
    }
  }

  /// Work that is called with a number that cycles from 0 to below `limit`, from chunk to chunk.
  static func calling(roundOf limit: Int, _ body: @escaping @Sendable (Int) throws -> Void) -> Measure {
    let next = Counter()
    return Measure { count, stopwatch in
      var number = next.number.load(ordering: .relaxed)
      defer { next.number.store(number, ordering: .relaxed) }
      stopwatch.start()
      for _ in 0..<count {
        try body(number)
        number += 1
        if number == limit { number = 0 }
      }
      stopwatch.stop()
    }
  }

  /// Work that needs a new state for each chunk. Creating and releasing the state does not count.
  static func prepared<State>(
    count: Int? = nil,
    _ prepare: @escaping @Sendable (_ count: Int) async throws -> State,
    timed body: @escaping @Sendable (inout State, _ count: Int) async throws -> Void,
    finish: @escaping @Sendable (State) async throws -> Void = { _ in }
  ) -> Measure {
    Measure(count: count) { count, stopwatch in
      var state = try await prepare(count)
      stopwatch.start()
      try await body(&state, count)
      stopwatch.stop()
      try await finish(state)
    }
  }
}

extension Measure {
  /// The await of an async function that does nothing, which is 1 A.
  static let baseline = Measure.awaiting { await nothing() }

  /// The lowest cost of an await.
  static let awaitingLess = Measure.awaiting { await lessThanNothing() }
}

private final class Counter: Sendable {
  let number = Atomic(0)
}

/// Does nothing, asynchronously, after the hop to an executor that each async function with a body makes.
@inline(never)
func nothing() async {
  keep(0)
}

/// Has an empty body, and so makes no hop. Not optimized, because its calls would be removed.
@inline(never)
@_optimize(none)
private func lessThanNothing() async {}
