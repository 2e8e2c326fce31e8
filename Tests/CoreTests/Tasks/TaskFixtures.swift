import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationCore

/// Work that waits at a gate, and counts its runs.
final class GatedWork: Sendable {
  let gate = Gate()
  private let runs = Atomic(0)
  private let cancelledRuns = Atomic(0)

  /// How often the work was done.
  var runCount: Int { self.runs.load(ordering: .acquiring) }

  /// How often it was cancelled, either while it waited at the gate or before that.
  var cancelledRunCount: Int { self.cancelledRuns.load(ordering: .acquiring) }

  /// A task that returns the number of its run once the gate is open.
  func task(context: OperationContext = OperationContext()) -> OperationTask<Int, any Error> {
    OperationTask(context: context) { _, _ in
      let number = self.begin()
      do { try await self.gate.wait() } catch { throw self.noteCancellation(of: error) }
      return number
    }
  }

  /// A task whose failure type cannot represent a cancellation.
  func typedTask() -> OperationTask<Int, Refused> {
    OperationTask { _, _ async throws(Refused) -> Int in
      let number = self.begin()
      await self.gate.waitIgnoringCancellation()
      if Task.isCancelled { throw self.noteCancellation(of: Refused(code: number)) }
      return number
    }
  }

  private func begin() -> Int {
    self.runs.add(1, ordering: .acquiringAndReleasing).newValue
  }

  private func noteCancellation<E: Error>(of error: E) -> E {
    self.cancelledRuns.add(1, ordering: .acquiringAndReleasing)
    return error
  }
}

/// Performs a closure, and logs the calls that it receives.
final class LoggingDelegate: RunDelegate {
  private let lines = Mutex<[String]>([])
  private let work: @Sendable (OperationContext) async throws -> Int

  init(_ work: @escaping @Sendable (OperationContext) async throws -> Int = { _ in 1 }) {
    self.work = work
  }

  var log: [String] { self.lines.withLock { $0 } }

  private func note(_ line: String) {
    self.lines.withLock { $0.append(line) }
  }

  func willStart(_ task: OperationTask<Int, any Error>) -> OperationTask<Int, any Error> {
    self.note("willStart")
    return task
  }

  func performWork(_ invocation: RunInvocation<LoggingDelegate>) async -> RunOutcome<Int, any Error> {
    self.note("perform")
    do {
      return RunOutcome(success: try await self.work(invocation.context))
    } catch {
      return RunOutcome(failure: error)
    }
  }

  func wasCancelled(_ sharedRun: SharedRun<Int, any Error>) {
    self.note("wasCancelled")
  }

  func didFinish(
    _ task: OperationTask<Int, any Error>,
    with outcome: RunOutcome<Int, any Error>,
    isCancelled: Bool
  ) {
    let isFailure = if case .failure = outcome.result { true } else { false }
    self.note("didFinish\(isFailure ? " failed" : "")\(isCancelled ? " cancelled" : "")")
  }
}

extension RunOutcome {
  /// Whether this is a `CancellationError`.
  var isCancellation: Bool { self.result.isCancellation }
}
