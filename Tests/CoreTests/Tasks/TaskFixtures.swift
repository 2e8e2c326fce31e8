import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

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

  func willStart(_ task: ErasedTask) -> ErasedTask {
    self.note("willStart")
    return task
  }

  func performWork(_ invocation: RunInvocation) async -> RunOutcome {
    self.note("perform")
    do {
      return RunSuccess(try await self.work(invocation.context))
    } catch {
      return RunFailure(error)
    }
  }

  func wasCancelled(_ sharedRun: SharedRun) {
    self.note("wasCancelled")
  }

  func didFinish(_ task: ErasedTask, with outcome: RunOutcome, isCancelled: Bool) {
    self.note("didFinish\(outcome.isSuccess ? "" : " failed")\(isCancelled ? " cancelled" : "")")
  }
}

extension SharedRun {
  /// Creates a run whose failure type can represent any error.
  convenience init(delegate: any RunDelegate, ownerCount: Int = 0) {
    self.init(delegate: delegate, failure: (any Error).self, ownerCount: ownerCount)
  }
}

extension RunOutcome {
  /// The number that a run of ``GatedWork`` or ``LoggingDelegate`` has returned; throws its error.
  func number() throws -> Int { try self.get(Int.self, (any Error).self) }
}
