import OperationCore
import OperationTesting
import Synchronization
package import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Lets a bounded number of tests run at once, and cancels one that hangs.
///
/// Swift Testing begins all tests at once. With thousands of them each waits for the same few threads, and takes as long as all of
/// them together. Here a test waits for its turn before its body begins, and its limits count from then on.
package struct BoundedTests: TestTrait, SuiteTrait, TestScoping {
  /// A guard against hanging, not a bar: a test takes milliseconds, also on a machine that does other things.
  package static let limit = Duration.seconds(1_200)

  /// Some tests wait for a time limit or a child process, so there are more turns than threads.
  private static let turns = Turns(count: 4)

  /// Whether this task has a turn: a suite inside of a suite can have the trait twice.
  @TaskLocal private static var hasTurn = false

  fileprivate let comeFirst: Bool

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    if Self.hasTurn { return try await function() }
    await Self.turns.take(beforeOthers: self.comeFirst)
    defer { Self.turns.giveBack() }
    try await Self.$hasTurn.withValue(true) {
      try await WaitLimit.withValue(Self.limit) { try await Self.cancellingAfterLimit(test, function) }
    }
  }

  private static func cancellingAfterLimit(
    _ test: Test,
    _ function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withoutActuallyEscaping(function) { function in
      let body = Task { try await function() }
      let isOverdue = Atomic(false)
      let deadline = SystemDeadlineSource().schedule(after: Self.limit) {
        isOverdue.store(true, ordering: .releasing)
        body.cancel()
      }
      defer { deadline.cancel() }
      let result = await withTaskCancellationHandler {
        await body.result
      } onCancel: {
        body.cancel()
      }
      if isOverdue.load(ordering: .acquiring) {
        Issue.record("The test has not ended after \(Self.limit).", sourceLocation: test.sourceLocation)
      }
      try result.get()
    }
  }
}

extension Trait where Self == BoundedTests {
  /// Lets four tests run at once, and cancels one that hangs. Each suite has it, or the next one.
  package static var bounded: Self { BoundedTests(comeFirst: false) }

  /// The same for a serialized suite, whose tests take their turns before others.
  ///
  /// Each of them asks for its turn when the one before has ended. Behind all others it would wait for thousands, and the suite
  /// would still run when all others have ended. A test cannot ask whether its suite is serialized: it does not inherit that trait.
  package static var boundedBeforeOthers: Self { BoundedTests(comeFirst: true) }
}

/// Turns that tests take in the order in which they ask, or before others.
private final class Turns: Sendable {
  private struct State {
    var free: Int
    var ended = 0
    var first: [UnsafeContinuation<Void, Never>] = []
    var waiters: [UnsafeContinuation<Void, Never>] = []

    mutating func next() -> UnsafeContinuation<Void, Never>? {
      if !self.first.isEmpty { return self.first.removeFirst() }
      return self.waiters.isEmpty ? nil : self.waiters.removeFirst()
    }
  }

  private let state: Mutex<State>

  init(count: Int) {
    self.state = Mutex(State(free: count))
  }

  func take(beforeOthers isFirst: Bool) async {
    await withUnsafeContinuation { continuation in
      let hasTurn = self.state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return true
        }
        if isFirst { state.first.append(continuation) } else { state.waiters.append(continuation) }
        return false
      }
      if hasTurn { continuation.resume() }
    }
  }

  func giveBack() {
    let (next, number) = self.state.withLock { state in
      state.ended += 1
      let next = state.next()
      if next == nil { state.free += 1 }
      return (next, state.ended)
    }
    if number.isMultiple(of: 50) { Self.returnFreeMemory() }
    next?.resume()
  }

  /// The allocator of GNU's C library keeps what the tests before have released, several hundred megabytes.
  private static func returnFreeMemory() {
    #if canImport(Glibc)
      // The module of the library has no `malloc.h`.
      let trim = dlsym(nil, "malloc_trim").map { unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self) }
      _ = trim?(0)
    #endif
  }
}
