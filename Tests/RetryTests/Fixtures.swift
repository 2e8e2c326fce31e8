import OperationBackoff
import OperationCore
import OperationRetry
import Synchronization
import TestFixtures

struct Failed: Error, Hashable {
  var number = 0
}

/// Writes down what each attempt was told.
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

  /// Notes an attempt, and returns its number, from 1.
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

  /// An operation that notes its attempts and fails.
  func failing(
    configure: @escaping @Sendable (inout OperationContext) -> Void = { _ in }
  ) -> Work<Int, any Error> {
    self.failing(times: .max, configure: configure)
  }

  /// An operation that notes its attempts, fails some times, and then returns the number of the attempt.
  func failing(
    times: Int,
    configure: @escaping @Sendable (inout OperationContext) -> Void = { _ in }
  ) -> Work<Int, any Error> {
    Work(configure: configure) { context, _ in
      let number = self.note(context)
      guard number > times else { throw Failed(number: number) }
      return number
    }
  }
}

/// Does not wait, and writes down for how long it was asked to.
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

extension OperationContext {
  /// One without waiting.
  static var undelayed: OperationContext {
    var context = OperationContext()
    context.operationDelayer = .noDelay
    return context
  }
}

extension OperationRequest {
  /// Runs the operation after a setup, as stores do.
  @discardableResult
  func runOnce(in context: OperationContext = .undelayed) async throws(Failure) -> Value {
    try await OperationRunner(operation: self, initialContext: context).run()
  }

  /// Runs the operation with a context that was not set up.
  @discardableResult
  func runBare(in context: OperationContext = .undelayed) async throws(Failure) -> Value {
    try await self.run(isolation: nil, in: context, with: OperationContinuation { _, _ in })
  }
}
