import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures

/// Records what the contexts of attempts contain.
final class Attempts: Sendable {
  struct Attempt: Hashable {
    var index: Int?
    var maximum: Int
    var isFirstRun = false
    var isFirstRetry = false
    var isLastRetry = false
    var isLastRun = false
  }

  private let state = Mutex<[Attempt]>([])

  var all: [Attempt] { self.state.withLock { $0 } }
  var count: Int { self.all.count }
  var indices: [Int?] { self.all.map(\.index) }

  /// Records an attempt, and returns its number, from 1.
  @discardableResult
  func note(_ context: OperationContext) -> Int {
    let attempt = Attempt(
      index: context.operationRetryIndex,
      maximum: context.operationMaxRetries,
      isFirstRun: context.isFirstRunAttempt,
      isFirstRetry: context.isFirstRetryAttempt,
      isLastRetry: context.isLastRetryAttempt,
      isLastRun: context.isLastRunAttempt
    )
    return self.state.withLock { attempts in
      attempts.append(attempt)
      return attempts.count
    }
  }

  /// An operation that records its attempts and fails.
  func failing(
    configure: @escaping @Sendable (inout OperationContext) -> Void = { _ in }
  ) -> Work<Int, any Error> {
    self.failing(times: .max, configure: configure)
  }

  /// An operation that records its attempts, fails a number of times, and then returns the number of the attempt.
  func failing(
    times: Int,
    configure: @escaping @Sendable (inout OperationContext) -> Void = { _ in }
  ) -> Work<Int, any Error> {
    Work(configure: configure) { context, _ in
      let number = self.note(context)
      guard number > times else { throw Refused(code: number) }
      return number
    }
  }
}

/// A delayer that does not wait, and records the delays.
final class RecordingDelayer: OperationDelayer, Sendable {
  private let state = Mutex<[Duration]>([])
  private let onDelay: @Sendable (Int) throws -> Void

  init(onDelay: @escaping @Sendable (Int) throws -> Void = { _ in }) {
    self.onDelay = onDelay
  }

  var delays: [Duration] { self.state.withLock { $0 } }

  func delay(for duration: OperationDuration) async throws {
    let count = self.state.withLock { delays in
      delays.append(duration)
      return delays.count
    }
    try self.onDelay(count)
    try Task.checkCancellation()
  }
}

func cancelCurrentTask() {
  withUnsafeCurrentTask { $0?.cancel() }
}

extension OperationRequest {
  /// Runs the operation after a setup, as stores do.
  @discardableResult
  func runOnce(in context: OperationContext = .withoutDelays) async throws(Failure) -> Value {
    try await OperationRunner(operation: self, initialContext: context).run()
  }

  /// Runs the operation after a setup, or without one.
  @discardableResult
  func run(isSetUp: Bool) async throws(Failure) -> Value {
    if isSetUp { return try await self.runOnce() }
    return try await self.runWithoutSetup(in: .withoutDelays)
  }
}
