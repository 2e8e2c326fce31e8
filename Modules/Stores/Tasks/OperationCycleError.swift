public import OperationFoundation
internal import Synchronization

/// The error of operations that wait for each other in a cycle: the work of each operation calls the next one.
///
/// If a run that a call would join waits for that call, the call throws this error, provided that its failure type can
/// represent it. Every cycle is reported as ``OperationWarning/Code/taskCycle``.
public struct OperationCycleError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The names of the operations of the cycle.
  ///
  /// The operation that was called is the first and the last.
  public let operationNames: [String]

  /// The waits in words; nil if all of them are calls.
  private let waits: String?

  /// Creates an error, for tests of what handles it, and for modules whose waits can close a cycle.
  ///
  /// - Parameter operationNames: The names of the operations of the cycle. The one that was called is the first and the last.
  public init(operationNames: [String]) {
    self.operationNames = operationNames
    self.waits = nil
  }

  /// Creates an error with a sentence about the waits, written without its period.
  package init(operationNames: [String], waits: String) {
    self.operationNames = operationNames
    self.waits = waits
  }

  public var description: String {
    if let waits = self.waits { return "\(waits). None of these waits can end before the others." }
    return """
      \(self.operationNames.first ?? "An operation") waits for itself: \
      \(self.operationNames.joined(separator: " → ")). None of these operations may call one that waits for it.
      """
  }
}

extension OperationCycleError {
  /// Whether a failure type can represent the error.
  package static func isFailure<Failure: Error>(_ failure: Failure.Type) -> Bool {
    OperationCycleError(operationNames: []) is Failure
  }

  /// Reports the cycle as a warning. Inside of ``deferringReports(_:)``, the report waits until it turns out to be
  /// needed.
  package func report() {
    if let deferred = DeferredCycleReports.current.get() { return deferred.append(self) }
    OperationWarning(code: .taskCycle, message: self.description).report()
  }

  /// Performs work that may turn out not to be needed, such as one of several alternatives.
  ///
  /// - Parameter work: The work, which may close cycles.
  /// - Returns: The result of the work, and the cycles. The caller reports them if the work was needed.
  package nonisolated(nonsending) static func deferringReports<R>(
    _ work: nonisolated(nonsending) () async -> R
  ) async -> (result: R, cycles: [OperationCycleError]) {
    let deferred = DeferredCycleReports()
    let result = await DeferredCycleReports.current.withValue(deferred) { await work() }
    return (result, deferred.all)
  }
}

/// The cycles that one of several alternatives has closed.
private final class DeferredCycleReports: Sendable {
  static let current = TaskLocal<DeferredCycleReports?>(wrappedValue: nil)

  private let cycles = Mutex<[OperationCycleError]>([])

  var all: [OperationCycleError] { self.cycles.withLock { $0 } }

  func append(_ cycle: OperationCycleError) {
    self.cycles.withLock { $0.append(cycle) }
  }
}

extension OperationCycleError: LocalizedError {
  public var errorDescription: String? { self.description }
}
