internal import Synchronization

/// Does an operation a number of times, and starts and stops the watch around what counts.
struct Measure: Sendable {
  typealias Chunk = @Sendable (_ count: Int, _ stopwatch: inout Stopwatch) async throws -> Void

  /// How often to do it at a time; nil where that is for the harness to find out.
  let count: Int?
  let chunk: Chunk

  init(count: Int? = nil, _ chunk: @escaping Chunk) {
    self.count = count
    self.chunk = chunk
  }
}

extension Measure {
  /// Something that is awaited, just as the baseline is.
  static func awaiting(_ body: @escaping @Sendable () async -> Void) -> Measure {
    Measure { count, stopwatch in
      stopwatch.start()
      for _ in 0..<count { await body() }
      stopwatch.stop()
    }
  }

  /// Something that is called. Its closure does it `times` times, so that the call of the closure weighs less.
  static func calling(times: Int = 1, _ body: @escaping @Sendable () throws -> Void) -> Measure {
    Measure { count, stopwatch in
      let calls = (count + times - 1) / times
      stopwatch.start()
      for _ in 0..<calls { try body() }
      stopwatch.stop()
    }
  }

  /// Something that is called with a number that goes round from 0 to below `limit`, from chunk to chunk.
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

  /// Something that needs a new state for each chunk, whose making and dropping does not count.
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

  /// The least that an await can cost.
  static let awaitingLess = Measure.awaiting { await lessThanNothing() }
}

private final class Counter: Sendable {
  let number = Atomic(0)
}

/// Does nothing, asynchronously, on the executor that it hops to as every async function does that has something to do.
@inline(never)
func nothing() async {
  keep(0)
}

/// Does not even that. Not optimized, as its calls would be left out.
@inline(never)
@_optimize(none)
private func lessThanNothing() async {}
